"""Run the missing cells of a study; store each result immediately, and write all results as one table."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from unmask.catalog import instantiate
from unmask.core.errors import FailedError, UnmaskError
from unmask.data.writing import replace_file
from unmask.document import in_document, list_requirements, load
from unmask.domains import import_audit
from unmask.plan import Cell, Plan
from unmask.policy import Criterion, Policy
from unmask.policy.condition import CONTROL_FIELDS
from unmask.policy.policies import parse_policy
from unmask.policy.verdict import explain_unanswered
from unmask.ranges import Range, check_type
from unmask.results import Row
from unmask.studies.beliefs import belief_file
from unmask.studies.cells import CONTROL_SETTINGS
from unmask.studies.journal import Journal, Result
from unmask.studies.results_file import RESULTS, write_results
from unmask.studies.workers import finished, run_cells
from unmask.toml_text import format_document

JOURNAL = "journal.jsonl"
PLAN = "plan.toml"
POLICY = "policy.toml"
GAME = "game.json"


@dataclass(frozen=True)
class Outcome:
    """Number of cells by status after a run ("done", "not run", "failed", "timed out", "skipped"), damaged lines, and
    the reasons of missing results with their numbers, most frequent first.
    """

    cells: int
    done: int
    not_run: int
    failed: int
    timed_out: int
    skipped: int
    damaged: int
    interrupted: bool
    reasons: tuple[tuple[str, int], ...] = ()

    @classmethod
    def count(cls, keys: Sequence[str], journal: Journal, *, interrupted: bool) -> Outcome:
        """Count the cells with these keys in a journal by status."""
        results = [journal.results[key] for key in keys if key in journal.results]
        status = Counter(result.status for result in results)
        return cls(
            cells=len(keys),
            done=status["done"],
            not_run=status["not run"],
            failed=status["failed"],
            timed_out=status["timed out"],
            skipped=len(keys) - len(results),
            damaged=journal.damaged,
            interrupted=interrupted,
            reasons=tuple(Counter(result.reason for result in results if result.reason).most_common()),
        )

    @property
    def complete(self) -> bool:
        """Return True if all cells have a result."""
        return not (self.skipped or self.interrupted)


Watcher = Callable[[int, int, float], None]
"""Callback after each cell: number of cells with a result, number of all cells, estimated remaining seconds."""


def run_study(
    plan: Plan,
    folder: Path,
    *,
    workers: Annotated[int, Range(1)] = 1,
    retry: bool = False,
    watch: Watcher | None = None,
    submit: Callable[[Sequence[Cell]], Iterator[Result]] | None = None,
    source: Path | None = None,
    priced: Sequence[Cell] = (),
) -> Outcome:
    """Run the cells for which the folder has no result, and write `results.parquet`.

    Cells are identified by their content, so an extended or renamed plan runs only new cells. Cells that failed or
    timed out run again only with `retry`. Ctrl-C stops the workers and writes the existing results, and so does a
    SIGTERM to `unmask study`.

    workers : number of cells to run in parallel
    retry : run cells again that failed or timed out
    submit : function that runs cells, instead of processes on this machine, for example `cluster.on_spark`
    source : file of the plan; it is copied next to the results with the requirements of its policy, before the run and
             after the folder is locked
    priced : cells whose beliefs are stored in the folder, see `unmask.studies.game.priced`; not on a cluster
    """
    check_type("workers", workers, Annotated[int, Range(1)])
    cells = _cells_by_key(plan)
    policy = None if source is None else policy_of_plan(source, plan)
    _create_folder(folder)
    journal = Journal(folder / JOURNAL)
    with journal.appending():
        if source is not None and policy is not None:
            _copy_plan(source, folder, policy)
        finished = {key for key, result in journal.results.items() if not retry or result.status == "done"}
        missing = [cell for cell in cells.values() if cell.key not in finished]
        missing = missing if submit else _with_stored_beliefs(missing, priced, folder)
        results = submit(missing) if submit else run_cells(missing, workers=workers, budget=plan.budget)
        report = None if watch is None else _progress(watch, len(cells), len(missing), workers)
        interrupted = _file(results, journal, report, limit=plan.budget.seconds)
        write_results(plan, journal, folder / RESULTS)
    return Outcome.count(list(cells), journal, interrupted=interrupted)


def estimate_study(plan: Plan, folder: Path, workers: int = 1) -> dict[str, Any]:
    """Return the parts of a plan, its finished cells, and the estimated time, from finished cells or the first cell."""
    cells = plan.cells()
    results = Journal(folder / JOURNAL).results if (folder / JOURNAL).exists() else {}
    measured = [results[cell.key].seconds for cell in cells if cell.key in results]
    mean_seconds = sum(measured) / len(measured) if measured else finished(cells[0]).seconds
    return {
        "title": plan.title,
        "datasets": [part.name for part in plan.datasets],
        "protections": [part.name for part in plan.protections],
        "adversaries": [part.name for part in plan.adversaries],
        "seeds": list(plan.seeds),
        "cells": len(cells),
        "done": len(measured),
        "seconds": round(mean_seconds * (len(cells) - len(measured)) / workers, 1),
        "estimated_from": "the cells done" if measured else "the first cell",
    }


def _file(
    results: Iterator[Result], journal: Journal, report: Callable[[int, float], None] | None, *, limit: float | None
) -> bool:
    """Append results to the journal as they arrive, for at most `limit` seconds; return True if interrupted."""
    start = time.monotonic()
    try:
        for number, result in enumerate(results, 1):
            journal.add(result)
            spent = time.monotonic() - start
            if report is not None:
                report(number, spent)
            if limit is not None and spent > limit:
                break
    except KeyboardInterrupt:
        return True
    finally:
        if hasattr(results, "close"):
            results.close()
    return False


def _progress(watch: Watcher, cells: int, missing: int, workers: int) -> Callable[[int, float], None]:
    """Return a callback for the number of missing cells that have run, and their seconds.

    The first cell of each worker also imports libraries and compiles loops. It is ignored once other cells have run.
    """
    seconds_of_first = 0.0

    def report(number: int, spent: float) -> None:
        nonlocal seconds_of_first
        if number <= workers:
            seconds_of_first, pace = spent, spent / number
        else:
            pace = (spent - seconds_of_first) / (number - workers)
        watch(cells - missing + number, cells, pace * (missing - number))

    return report


def _create_folder(folder: Path) -> None:
    """Create the folder of a study; raise if it has files of another source, which a study would overwrite."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailedError(f"folder {folder} cannot be created: {error.strerror}; choose another one") from None
    existing = next((name for name in (PLAN, RESULTS) if (folder / name).exists()), None)
    if existing is not None and not (folder / JOURNAL).exists():
        raise UnmaskError(f"folder {folder} has a {existing} from another source; choose another folder")


def _copy_plan(plan: Path, folder: Path, policy: Policy) -> None:
    """Copy the plan next to its results, with the requirements of its policy."""
    text = format_document({"title": policy.title, **list_requirements([policy])})
    texts = {PLAN: plan.read_bytes(), POLICY: text.encode()}
    try:
        (folder / GAME).unlink(missing_ok=True)  # it belongs to the previous document
        for name in (name for name in texts if plan.resolve() != (folder / name).resolve()):
            with replace_file(folder / name) as place:
                place.write_bytes(texts[name])
    except OSError as error:
        raise FailedError(f"folder {folder} cannot be written: {error.strerror}; choose another one") from None


def policy_of_plan(path: Path, plan: Plan) -> Policy:
    """Return the requirements of a study's document for its domains; raise for conditions that the plan cannot
    answer.
    """
    policy = parse_policy(load(path), path.parent, title=path.stem)
    domains = {"", *(part.domain for part in plan.datasets)}
    requirements = tuple(requirement for requirement in policy.requirements if requirement.domain in domains)
    policy = replace(policy, requirements=requirements)
    with in_document(path):
        check_policy(policy, plan)
    return policy


def _with_stored_beliefs(cells: Sequence[Cell], priced: Sequence[Cell], folder: Path) -> list[Cell]:
    """Return the cells; those that a game prices store their belief in the folder."""
    wanted = {belief_file(cell, folder) for cell in priced}
    return [replace(cell, kept=folder) if belief_file(cell, folder) in wanted else cell for cell in cells]


def _cells_by_key(plan: Plan) -> dict[str, Cell]:
    """Return key -> cell; raise if two names have the same content."""
    cells: dict[str, Cell] = {}
    for cell in plan.cells():
        first = cells.setdefault(cell.key, cell)
        if first is not cell:
            names = f"{first.dataset.name} / {first.protection.name} / {first.adversary.name}"
            raise UnmaskError(f"two cells of the plan are equal: {names} has a second name; remove one of them")
    return cells


def check_policy(policy: Policy, plan: Plan) -> None:
    """Raise for a policy with a condition that no cell of the plan can answer."""
    rows = list(_answers(plan))
    has_answers = all(hasattr(import_audit(part.domain), "answers") for part in plan.datasets)
    for require in (requirement.require for requirement in policy.requirements):
        if reason := explain_unanswered(require if has_answers else replace(require, scope=None), rows):
            raise UnmaskError(f"the policy requires {str(require)!r}, which this plan cannot answer: {reason}")


def _answers(plan: Plan) -> Iterator[Row | Criterion]:
    """Yield a row without a value for each possible measure of a cell, and each criterion."""
    for cell in {(cell.dataset.name, cell.adversary.name): cell for cell in plan.cells()}.values():
        cases: Any = import_audit(cell.dataset.domain)
        target, measures = "", cases.MEASURES
        if hasattr(cases, "answers"):
            target, measures = cases.answers(cell.adversary, instantiate(cell.adversary, "attacks"))
            measures = (*measures, *(name for name in cell.measures if name in cases.MORE))
        has_control = not hasattr(cases, "answers") or bool(set(CONTROL_SETTINGS) & cell.dataset.settings.keys())
        control_fields: Any = dict.fromkeys(CONTROL_FIELDS, math.nan) if has_control else {}
        for name in filter(cell.wants, measures):
            yield replace(cell.row(name, "", math.nan, prior=math.nan, n=0, target=target), **control_fields)
        yield from (Criterion("", name, math.nan) for name in getattr(cases, "CRITERIA", ()) if cell.wants(name))
