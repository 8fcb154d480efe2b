"""From the folder of a study to the values of its page: rows are read, nothing is run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path, PurePath
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.core.pareto import find_pareto_front
from unmask.data.databases import escape_path, open_database
from unmask.document import load
from unmask.plan import NOTHING
from unmask.policy.coverage import coverage_notes
from unmask.policy.policies import parse_policy
from unmask.reports.facts.study import (
    Missing,
    Plane,
    Spot,
    StudyData,
    StudyRows,
    judged,
    spoken_of,
)
from unmask.results import StudyRow
from unmask.results.preferred_rows import RATIONAL
from unmask.studies.game import describe_in_study, read_game
from unmask.studies.run import PLAN, RESULTS
from unmask.studies.summary import Results, read_results
from unmask.studies.verdicts import options
from unmask.version import __version__

FILES = frozenset({"file", "hierarchies", "attacker"})
"""Settings of a plan that name files."""

ALONE = (
    "An adversary who reckons decides about each person alone; a campaign against many may pay where no single attack "
    "does. Success is by as many tries as pay for them, by one guess for others."
)
"""What is said besides, where an adversary reckons."""

OWN = "the policy of this study"
"""The title of conditions that its document states itself."""

UTILITY = "utility"
"""The measure that risk is held against."""

ASSUMPTIONS = (
    "An adversary knows what the plan says they know, and nothing else; a stronger one is not judged here.",
    "Seeds draw anew the data that are generated, what is known, and what is random in a protection.",
    "Intervals over seeds say nothing about other populations.",
    "Protections of one dataset are compared on the same draws of people and knowledge.",
    "The strongest adversary is, for each thing that adversaries are after, the one with the highest success.",
    "Under a graded loss, such as a distance, it is the one with the smallest error.",
)


def study_page(folder: Path) -> StudyData:
    """The values of the page of a study.

    Every number comes from `results.parquet`; from the plan beside it, where there is one, its title and what it says
    of datasets, protections and adversaries are quoted.
    """
    results, plan = read_results(folder), _plan(folder / PLAN)
    bare = frozenset(part["name"] for part in _parts(plan, "protections") if part["use"] == NOTHING)
    rows = results.rows
    policy = parse_policy({"policy": plan.get("policy", [])}, folder, title=OWN)
    seeds = _seeds(folder / RESULTS)
    judged_options = tuple(option for option in options(results, policy) if option.judged)
    game = read_game(folder)
    return StudyData(
        title=str(plan.get("title") or f"Study {folder.resolve().name}"),
        rows=rows,
        missing=results.gaps,
        planes=planes(rows),
        words=_words(plan, results),
        unprotected=bare or frozenset({NOTHING, "original"}),
        seeds=len(seeds),
        assumptions=(
            *coverage_notes(rows),
            *ASSUMPTIONS,
            *((ALONE,) if any(item.measure in RATIONAL for item in rows) else ()),
        ),
        reproduce=_reproduce(folder, seeds),
        policy=policy.title if policy.requirements else "",
        options=judged_options,
        game=None
        if game is None
        else describe_in_study(game, {option.protection: option.state for option in judged_options}),
    )


# --- risk against utility --------------------------------------------------------------------------------------------


def planes(rows: Sequence[StudyRow]) -> tuple[Plane, ...]:
    """For each dataset, unit of utility and direction: success or error against utility, and what is undominated.

    Success and error are those of `spoken_of`; utility the mean over the seeds, for each adversary their own, since
    the loss that they are judged by may decide what it costs. Datasets without both are left out.
    """
    found = []
    for dataset in dict.fromkeys(item.dataset for item in rows):
        own = tuple(item for item in rows if item.dataset == dataset)
        useful = {(item.release, item.adversary): item for item in own if item.measure == UTILITY}
        heads = spoken_of(own)
        alike = dict.fromkeys((item.unit, item.direction) for item in heads.values())
        for unit, (risk_unit, direction) in product(dict.fromkeys(row.unit for row in useful.values()), alike):
            kept = {key: row.posterior for key, row in useful.items() if row.unit == unit}
            wanted, sign = (risk_unit, direction), 1 if direction == "high" else -1
            asked = {key: item for key, item in heads.items() if (item.unit, item.direction) == wanted}
            spots = tuple(_spots(asked, kept, sign=sign))
            if spots:
                found.append(Plane(dataset, unit, spots, _undominated(spots, sign=sign), *wanted))
    return tuple(found)


def _spots(heads: StudyRows, kept: Mapping[tuple[str, str], float], *, sign: int) -> Iterator[Spot]:
    for adversary, target in dict.fromkeys(key[1:] for key in heads):
        own = [
            (item, kept[item.release, adversary])
            for key, item in heads.items()
            if key[1:] == (adversary, target)
            and (item.release, adversary) in kept
            and math.isfinite(item.posterior + kept[item.release, adversary])
        ]
        best = find_pareto_front([(sign * row.posterior, -utility) for row, utility in own])
        for (row, utility), front in zip(own, best, strict=True):
            yield Spot(row.release, adversary, target, utility, row.posterior, row.low, row.high, front)


def _undominated(spots: Sequence[Spot], *, sign: int) -> tuple[str, ...]:
    """Protections that no other beats: in utility (mean over adversaries) and, for every target, in what the strongest
    adversary after it reaches. One that an adversary has no result for is not judged: they might be the strongest.

    sign : 1 where the adversaries want it high, -1 where low
    """
    names = judged(spots)
    if not names:
        return ()
    targets = dict.fromkeys(spot.target for spot in spots)
    risks = [
        [
            max(sign * spot.success for spot in spots if (spot.protection, spot.target) == (name, target))
            for target in targets
        ]
        for name in names
    ]
    useful = [[spot.utility for spot in spots if spot.protection == name] for name in names]
    best = find_pareto_front([(*risk, -sum(kept) / len(kept)) for risk, kept in zip(risks, useful, strict=True)])
    return tuple(name for name, front in zip(names, best, strict=True) if front)


# --- what the plan says ----------------------------------------------------------------------------------------------


def _plan(path: Path) -> dict[str, Any]:
    """The plan as text, for quoting: what cannot be read is not quoted."""
    with suppress(UnmaskError):
        return load(path)
    return {}


def _parts(plan: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    for entry in (one for one in plan.get(kind, []) if isinstance(one, dict)):
        use = str(entry.get("use", ""))
        yield {**entry, "use": use, "name": str(entry.get("name", use.rpartition(".")[2]))}


def _words(plan: Mapping[str, Any], results: Results) -> dict[tuple[str, str], str]:
    """What the plan says of datasets and adversaries by their names in the results, and of its protections."""
    cells: tuple[StudyRow | Missing, ...] = (*results.rows, *results.gaps)
    shown = {"datasets": [one.dataset for one in cells], "adversaries": [one.adversary for one in cells]}
    found = {}
    for kind, names in shown.items():
        for part in _parts(plan, kind):
            for name in dict.fromkeys(names):
                if name == part["name"] or ("grid" in part and name.startswith(f"{part['name']} ")):
                    found[kind, name] = _said(part)
    return found | {("protections", part["name"]): _said(part, grid=True) for part in _parts(plan, "protections")}


def _said(part: Mapping[str, Any], *, grid: bool = False) -> str:
    """A part of the plan as one line: what it is, and its settings; those of a grid mostly stand in its names."""
    use = "leaves everything as it is" if part["use"] == NOTHING else part["use"]
    settings = {key: value for key, value in part.items() if key not in ("name", "use", "with", "grid")}
    listed = [f"{key} = {_setting(key, value)}" for key, value in {**part.get("with", {}), **settings}.items()]
    listed += [f"{key} = {_value(value)}" for key, value in part.get("grid", {}).items() if grid]
    return f"{use}: {'; '.join(listed)}" if listed else str(use)


def _setting(key: str, value: Any) -> str:
    """A value, and of a file its name alone: where it lies tells of the house."""
    if key not in FILES:
        return _value(value)
    names = {column: PurePath(str(path)).name for column, path in value.items()} if isinstance(value, dict) else None
    return _value(names or PurePath(_value(value)).name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return ", ".join(f"[{_value(item)}]" if isinstance(item, list) else _value(item) for item in value)
    return str(value)


def _seeds(path: Path) -> list[int]:
    with open_database() as connection:
        found = connection.execute(
            "select distinct seed from read_parquet(?) order by seed", [escape_path(path)]
        ).fetchall()
    return [int(seed) for (seed,) in found]


def _reproduce(folder: Path, seeds: Sequence[int]) -> dict[str, object]:
    """Commands with the name of the plan, version, seeds, and the digest of the plan: nothing that depends on where the
    folder lies. That of the results is none of it: whoever guesses the data could confirm the guess.
    """
    whole = seeds == list(range(seeds[0], seeds[0] + len(seeds))) if seeds else False
    shown = f"{seeds[0]} to {seeds[-1]}" if whole and len(seeds) > 1 else ", ".join(map(str, seeds))
    plan = folder / PLAN
    digests = {f"sha256 of {PLAN}": hashlib.sha256(plan.read_bytes()).hexdigest()} if plan.is_file() else {}
    return {
        "Run": f"unmask study {PLAN} -o results",
        "Page": "unmask report results -o report.html",
        "Seeds": shown,
        "Version": f"unmask {__version__}",
        **digests,
    }
