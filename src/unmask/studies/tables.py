"""Tables of a study: protections, verdicts, risk against utility, control group, rational attackers, all measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

from unmask.findings.row_words import name_of, row_estimate, row_value
from unmask.measures.registry import SHARES, UTILITIES
from unmask.policy import Policy
from unmask.policy.verdict import to_line
from unmask.results import Column, Row, StudyRow, Table
from unmask.results.formats import estimate
from unmask.results.words import shorten_names
from unmask.studies.facts import StudyFacts, Tradeoff
from unmask.studies.parameters import split_name
from unmask.studies.results_file import MissingCells
from unmask.studies.sentences import format_utility

UTILITY_UNITS = {
    "share": "share that is kept",
    "items": "items linked by one pseudonym",
    "absolute": "minus the expected absolute distortion",
    "euclidean": "minus the expected distance",
    "squared": "minus the expected squared distance",
    "hamming": "minus the probability of a wrong value",
}
"""Unit of utility -> its meaning."""


# --- facts for programs ----------------------------------------------------------------------------------------------


def verdict_table(facts: StudyFacts) -> Table:
    """Return the assessment of each policy condition for each protection of each dataset."""
    lines = [
        {"dataset": option.dataset, **vars(to_line(option.protection, Policy(facts.policy, ()), assessment))}
        for option in facts.options
        for assessment in option.assessments
    ]
    return Table("verdicts", tuple(map(Column, lines[0] if lines else ())), tuple(lines))


def front_table(facts: StudyFacts) -> Table:
    """Return the protections on the Pareto fronts of each dataset."""
    front = dict.fromkeys((tradeoff.dataset, name) for tradeoff in facts.tradeoffs for name in tradeoff.front)
    return Table.from_records("pareto_front", (Column("dataset"), Column("protection")), front)


# --- risk against utility --------------------------------------------------------------------------------------------


def tradeoff_table(facts: StudyFacts, tradeoff: Tradeoff, name: str) -> Table:
    """Return risk against utility, one series for each adversary and target, least risk first."""
    is_success = tradeoff.direction == "high"
    unit = UTILITY_UNITS.get(tradeoff.utility_unit, tradeoff.utility_unit)
    columns = (
        Column("series"), Column("style"), Column("name"), Column("mark"),
        Column("risk", "Success" if is_success else "Error", "number", tradeoff.risk_unit),
        Column("utility", f"Utility: {unit}", "share" if tradeoff.utility_unit in SHARES else "number"),
    )  # fmt: skip
    names = _shorten_names(point.protection for point in tradeoff.points)
    ordered = sorted(tradeoff.points, key=lambda point: (point.risk, point.utility), reverse=not is_success)
    records = (
        (
            f"{point.adversary}: {point.target}",
            facts.styles[point.adversary],
            names[point.protection],
            "point" if point.is_best else "hollow",
            point.risk,
            point.utility,
        )
        for point in ordered
    )
    return _page_table(name, columns, records)


def _shorten_names(protections: Iterable[str]) -> dict[str, str]:
    """Return chart names: long names become their parameters if these are unique, otherwise they are cut."""
    parts = {name: split_name(name) for name in protections}
    has_one_stem = len({stem for stem, parameters in parts.values() if parameters}) == 1
    short = shorten_names(parts)
    bare = {
        name: " ".join(f"{key}={value}" for key, value in parameters.items()) for name, (_, parameters) in parts.items()
    }
    return {name: bare[name] if has_one_stem and bare[name] and text != name else text for name, text in short.items()}


def _page_table(name: str, columns: Sequence[Column], records: Iterable[Iterable[object]], title: str = "") -> Table:
    return replace(Table.from_records(name, columns, records), title=title, page_only=True)


# --- all protections -------------------------------------------------------------------------------------------------


def protection_table(facts: StudyFacts, dataset: str, name: str) -> Table:
    """Return a row for each protection: Pareto front, utility, and the result of each adversary."""
    mentioned, tradeoffs = facts.mentioned[dataset], facts.tradeoffs_of(dataset)
    gaps = {(gap.protection, gap.adversary): gap.status for gap in facts.gaps if gap.dataset == dataset}
    attacks = list(dict.fromkeys((adversary, target) for _, adversary, target in mentioned))
    attacked = {adversary for adversary, _ in attacks}
    attacks += dict.fromkeys((adversary, "") for _, adversary in gaps if adversary not in attacked)
    columns = (
        Column("protection", "Protection"),
        Column("front", "On the Pareto front", "number"),
        *(Column(f"utility_{i}", f"Utility ({item.utility_unit})", "number") for i, item in enumerate(tradeoffs)),
        *(
            Column(f"{adversary}: {target}", f"{adversary}: {target}" if target else adversary, "number")
            for adversary, target in attacks
        ),
    )

    def reached(protection: str, attack: tuple[str, str]) -> str:
        row = mentioned.get((protection, *attack))
        return gaps.get((protection, attack[0]), "not run") if row is None else row_estimate(row)

    priors = (_format_priors([row for key, row in mentioned.items() if key[1:] == attack]) for attack in attacks)
    baseline = ("without the release", *(None for _ in range(len(tradeoffs) + 1)), *priors)
    records = (
        (
            protection,
            _format_front(tradeoffs, protection) if tradeoffs else None,
            *(_format_kept(tradeoff, protection) for tradeoff in tradeoffs),
            *(reached(protection, attack) for attack in attacks),
        )
        for protection in dict.fromkeys([*(key[0] for key in mentioned), *(protection for protection, _ in gaps)])
    )
    return _page_table(name, columns, [baseline, *records] if attacks else (), "All protections")


def _format_front(tradeoffs: Sequence[Tradeoff], protection: str) -> str:
    if any(protection in tradeoff.front for tradeoff in tradeoffs):
        return "yes"
    return "no" if any(protection in tradeoff.compared for tradeoff in tradeoffs) else "not compared"


def _format_kept(tradeoff: Tradeoff, protection: str) -> str:
    utility = tradeoff.utility.get(protection)
    return "not run" if utility is None else format_utility(tradeoff.utility_unit, utility)


def _format_priors(rows: Sequence[Row]) -> str:
    """Write the results of adversaries without the release; a range if they differ between protections."""
    finite = [row for row in rows if not math.isnan(row.prior)]
    if not finite:
        return ""
    ends = [estimate(end(row.prior for row in finite), finite[0].unit) for end in (min, max)]
    return " \u2013 ".join(dict.fromkeys(ends))


def release_table(rows: Sequence[StudyRow], name: str) -> Table:
    """Return the measures of releases, once for adversaries with the same values."""
    units = {row.measure: row.unit for row in rows}
    values: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        values.setdefault((row.release, row.adversary), {})[row.measure] = row
    labels = {name: name_of(name, UTILITIES) + ("" if unit in SHARES else f", {unit}") for name, unit in units.items()}
    columns = (
        Column("protection", "Protection"),
        *(Column(measure, label[0].upper() + label[1:], "number") for measure, label in labels.items()),
        Column("n", "n", "number"),
    )
    records = (
        (
            release,
            *(row_value(measured[measure]) if measure in measured else "not run" for measure in units),
            max(row.n for row in measured.values()),
        )
        for (release, _), measured in values.items()
    )
    return _page_table(name, columns, dict.fromkeys(records), "The release itself")


def missing_table(facts: StudyFacts) -> Table:
    """Return cells without a result, failures first."""
    order = ("failed", "timed out", "skipped", "not run")
    gaps = sorted(facts.gaps, key=lambda gap: order.index(gap.status) if gap.status in order else len(order))
    columns = (Column(field.name, field.name.capitalize()) for field in fields(MissingCells))
    return _page_table("missing", tuple(columns), (vars(gap).values() for gap in gaps))
