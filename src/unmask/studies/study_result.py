"""Read the result of a study from its folder, without running anything."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.data.databases import escape_path, open_database
from unmask.document import load
from unmask.plan import NOTHING
from unmask.policy.coverage import coverage_notes
from unmask.policy.policies import parse_policy
from unmask.results import Result
from unmask.results.rows import RATIONAL
from unmask.results.words import plural
from unmask.studies.blocks import make_blocks
from unmask.studies.choice import list_options
from unmask.studies.decision import make_advice, make_decision, make_headline, make_risk, protection_to_show
from unmask.studies.facts import StudyFacts
from unmask.studies.game import describe_in_study, read_game
from unmask.studies.results_file import RESULTS, Results, read_results
from unmask.studies.run import PLAN
from unmask.studies.sentences import describe_setting
from unmask.studies.tables import front_table, verdict_table
from unmask.toml_text import format_value
from unmask.version import __version__

FILE_SETTINGS = frozenset({"file", "hierarchies", "attacker"})
"""Settings of a plan that name files."""

POLICY_TITLE = "the policy of this study"
"""Title of the conditions in the document of a study."""

RATIONAL_ASSUMPTION = (
    "A rational attacker decides about each person separately. A campaign may pay although no single attack does. "
    "Their success counts all tries that pay; the success of other adversaries counts one guess."
)

ASSUMPTIONS = (
    "An adversary knows what the plan says they know, and nothing else; a stronger one is not judged here.",
    "Each seed draws anew: generated data, the adversaries' knowledge, and random protections.",
    "Intervals over seeds say nothing about other populations.",
    "Protections of one dataset are compared on the same draws of people and knowledge.",
    "The strongest adversary of a target has the highest success; under a graded loss, the smallest error.",
)


def read_result(folder: Path) -> Result:
    """Return the result of a study, with the publisher's game if one was played.

    All numbers come from `results.parquet`. Title and descriptions are copied from the plan next to it, if it exists.
    """
    facts, game = read_facts(folder), read_game(folder)
    result = make_result(facts, _reproduce(folder, facts.seeds))
    if game is not None:
        part = describe_in_study(game, {option.protection: option.state for option in facts.options})
        result = replace(
            result,
            headline=f"{result.headline} By what it pays the publisher: {part.blocks[0].sentence}",
            facts=(*result.facts, *part.facts),
            blocks=(*result.blocks, *part.blocks),
            assumptions=(*result.assumptions, *part.assumptions),
        )
    return result


def make_result(facts: StudyFacts, reproduce: Mapping[str, object] | None = None) -> Result:
    """Return the result for the facts of a study."""
    dataset, protection = protection_to_show(facts)
    blocks, tables = make_blocks(facts)
    programs = (table for table in (verdict_table(facts), front_table(facts)) if table.rows)
    is_rational = any(row.measure in RATIONAL for row in facts.rows)
    return Result(
        title=facts.title,
        kind="Study",
        command="report",
        setting=describe_setting(facts),
        headline=make_headline(facts, dataset, protection),
        rows=facts.rows,
        preferred_measures=(),
        facts=(*programs, *tables),
        blocks=blocks,
        at_risk=make_risk(facts, dataset, protection),
        advice=make_advice(facts, dataset),
        decision=make_decision(facts),
        adversaries={
            name: f"{name} ({text})" for (kind, name), text in facts.descriptions.items() if kind == "adversaries"
        },
        assumptions=(*coverage_notes(facts.rows), *ASSUMPTIONS, *(RATIONAL_ASSUMPTION,) * is_rational),
        not_run=tuple(
            (f"{gap.dataset}, {gap.protection}, {gap.adversary}: {plural(gap.cells, 'cell')} {gap.status}", gap.reason)
            for gap in facts.gaps
        ),
        unprotected=facts.unprotected,
        reproduce=reproduce or {},
    )


def read_facts(folder: Path) -> StudyFacts:
    """Read the facts of a study from its folder."""
    results, plan = read_results(folder), _read_plan(folder / PLAN)
    unprotected = frozenset(part["name"] for part in _list_parts(plan, "protections") if part["use"] == NOTHING)
    policy = parse_policy({"policy": plan.get("policy", [])}, folder, title=POLICY_TITLE)
    return StudyFacts(
        title=str(plan.get("title") or f"Study {folder.resolve().name}"),
        rows=results.rows,
        gaps=results.gaps,
        seeds=_read_seeds(folder / RESULTS),
        options=tuple(option for option in list_options(results, policy) if option.assessments),
        policy=policy.title if policy.requirements else "",
        unprotected=unprotected or frozenset({NOTHING, "original"}),
        descriptions=_describe_parts(plan, results),
    )


def _read_seeds(path: Path) -> tuple[int, ...]:
    query = "select distinct seed from read_parquet(?) order by seed"
    with open_database() as connection:
        return tuple(int(seed) for (seed,) in connection.execute(query, [escape_path(path)]).fetchall())


def _reproduce(folder: Path, seeds: Sequence[int]) -> dict[str, object]:
    """Return commands, seeds, version, and the digest of the plan; no path and no digest of the results.

    A digest of the results would confirm a guess about the data.
    """
    plan = folder / PLAN
    digests = {f"sha256 of {PLAN}": hashlib.sha256(plan.read_bytes()).hexdigest()} if plan.is_file() else {}
    return {
        "Run": f"unmask study {PLAN} -o results",
        "Page": "unmask report results -o report.html",
        "Seeds": _format_seeds(seeds),
        "Version": f"unmask {__version__}",
        **digests,
    }


def _format_seeds(seeds: Sequence[int]) -> str:
    is_range = len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if is_range else ", ".join(map(str, seeds))


# --- descriptions of the plan ----------------------------------------------------------------------------------------


def _read_plan(path: Path) -> dict[str, Any]:
    """Return the plan as a source of titles; empty if it cannot be read."""
    with suppress(UnmaskError):
        return load(path)
    return {}


def _list_parts(plan: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    for entry in (entry for entry in plan.get(kind, []) if isinstance(entry, dict)):
        use = str(entry.get("use", ""))
        yield {**entry, "use": use, "name": str(entry.get("name", use.rpartition(".")[2]))}


def _describe_parts(plan: Mapping[str, Any], results: Results) -> dict[tuple[str, str], str]:
    """Return (kind, name) -> description: adversaries by their names in the results, and protections of the plan."""
    names = dict.fromkeys([*(row.adversary for row in results.rows), *(gap.adversary for gap in results.gaps)])
    adversaries = {
        ("adversaries", name): _describe_part(part)
        for part in _list_parts(plan, "adversaries")
        for name in names
        if name == part["name"] or ("grid" in part and name.startswith(f"{part['name']} "))
    }
    protections = _list_parts(plan, "protections")
    return adversaries | {("protections", part["name"]): _describe_part(part, grid=True) for part in protections}


def _describe_part(part: Mapping[str, Any], *, grid: bool = False) -> str:
    """Describe a part of the plan in one line: its use and settings; grid values are omitted if names contain them."""
    use = "changes nothing" if part["use"] == NOTHING else part["use"]
    settings = {key: value for key, value in part.items() if key not in ("name", "use", "with", "grid")}
    texts = [f"{key} = {_format_setting(key, value)}" for key, value in {**part.get("with", {}), **settings}.items()]
    texts += [f"{key} = {format_value(value)}" for key, value in part.get("grid", {}).items() if grid]
    return f"{use}: {'; '.join(texts)}" if texts else str(use)


def _format_setting(key: str, value: Any) -> str:
    """Write a value; a file is written without its path."""
    if key not in FILE_SETTINGS:
        return format_value(value)
    if isinstance(value, dict):
        return format_value({column: PurePath(str(path)).name for column, path in value.items()})
    return format_value(PurePath(str(value)).name)
