"""The standard audit of a table that an engine holds: the rows of `study_tables`, from combinations, not people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from unmask.audit import SELF_ASSESSED
from unmask.measures import Measure, confirmation, evaluate, information_gain, refutation, total_variation
from unmask.measures.interval import wilson
from unmask.posterior import Posterior
from unmask.reports import ClassRisk, ColumnRisk, ReportData
from unmask.results import Row
from unmask.studies.tables import (
    PROSECUTOR,
    REGISTER,
    WORST_CLASSES,
    Evidence,
    _adversaries,
    _assumptions,
    _Attack,
    _distribution,
    _who,
)
from unmask.tables import criteria
from unmask.tables.large import Combinations, Reduced, attacks
from unmask.tables.large.criteria import Examined, examine


@dataclass(frozen=True, eq=False)
class Held:
    """A release that an engine holds, and in how many parts its combinations are taken into memory."""

    table: Reduced
    parts: int = 1


def study_large(
    releases: Mapping[str, Held],
    *,
    register: Combinations | None = None,
    title: str = "Audit of a table",
    reproduce: Mapping[str, object] | None = None,
) -> ReportData:
    """Attack every release as prosecutor (identity and each sensitive column) and, with a register, as its holder.

    The adversaries, measures and numbers are those of `study_tables` without an original, whose beliefs list every
    record in single precision: equal to 1e-6 for identity, to 1e-12 between engines. Where the combinations exceed the
    memory, criteria and identity are still exact; intervals, attribute inference and the register are not run, and said
    to be.
    """
    found = {name: examine(held.table, parts=held.parts) for name, held in releases.items()}
    whole = {name: held.table.whole() for name, held in releases.items() if held.parts == 1}
    beliefs = [one for name in releases for one in _attacks(name, whole.get(name), found[name], register)]
    rows = [row for one in beliefs for row in _rows(one, found[one.release].criteria.rows, held=one.release in whole)]
    first, evidence = next(iter(releases.values())).table.face, Evidence(register=register)
    return ReportData(
        title=title,
        who=_who(first, evidence),
        rows=tuple(rows),
        criteria={name: _criteria(one.criteria) for name, one in found.items()},
        class_risk={name: _worst_classes(table) for name, table in whole.items()},
        column_risk=tuple(risk for name, table in whole.items() for risk in _column_risks(name, table)),
        distribution=tuple(_distribution(one) for one in beliefs),
        assumptions=_assumptions(first, evidence),
        not_run=tuple(_not_run([name for name in releases if name not in whole], register)),
        reproduce=reproduce or {},
        adversaries=_adversaries(first, evidence),
    )


def _not_run(in_parts: Sequence[str], register: Combinations | None) -> Iterator[tuple[str, str]]:
    for name in in_parts:
        yield f"Attribute inference, intervals and worst classes of {name}", _TOO_MANY
        if register is not None:
            yield f"Linkage of {name} to the register", _TOO_MANY
    yield "Realised success", "needs the original in memory"
    if register is None:
        yield "Linkage to a register of named people", "needs a register (--register)"


_TOO_MANY = "needs all combinations in memory; give more (--memory-limit)"


def _attacks(
    name: str, whole: Combinations | None, found: Examined, register: Combinations | None
) -> Iterator[_Attack]:
    """The beliefs about a release; where its combinations are not held, the prosecutor's by sizes of classes alone."""
    if whole is None:
        yield _Attack(name, PROSECUTOR, "identity", attacks.of_sizes(found.sizes, found.rows), None)
        return
    table = whole.complete()
    yield _Attack(name, PROSECUTOR, "identity", attacks.identity(table), None)
    for column in table.sensitive:
        yield _Attack(name, PROSECUTOR, column.name, attacks.attribute(table, column.name), None)
    if register is not None:
        yield _Attack(name, REGISTER, "identity", attacks.register(table, register), None)


# --- measures of people who are counted, not listed -----------------------------------------------------------


def _rows(attack: _Attack, n_people: int, *, held: bool) -> Iterator[Row]:
    for measure in SELF_ASSESSED:
        counted = _of_counts(measure) if not len(attack.belief.candidate) else measure
        row = evaluate(counted, attack.belief, release=attack.release, adversary=attack.adversary, target=attack.target)
        yield _of_people(row, counted, attack.belief, n_people, clusters=held)


def _of_people(row: Row, measure: Measure, belief: Posterior, n_people: int, *, clusters: bool) -> Row:
    """The row with the number of people instead of the number of classes; a rate's interval knows them, too."""
    if not clusters:
        over = "none: the classes are not held in memory"
        return replace(row, n=n_people, low=None, high=None, interval=over)
    if not measure.rate or row.low is None:
        return replace(row, n=n_people)
    weight, value, rate = belief.weight, measure.per_target(belief), row.posterior
    variance = float(((weight * (value - rate)) ** 2).sum()) * len(weight) / (len(weight) - 1)
    spread = rate * (1 - rate)
    n_effective = min(spread / variance, float(n_people)) if variance > 0 and spread > 0 else len(weight)
    low, high = wilson(rate, n_effective)
    return replace(row, n=n_people, low=low, high=high)


def _of_counts(measure: Measure) -> Measure:
    """A measure against the prior, for a belief that holds N of n candidates alike and lists none of them.

    N = 0, nobody: believed absent, which a prior about candidates does not speak of; all four are 0, as in memory.
    """
    formulas: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
        information_gain.name: lambda share: -np.log2(share),
        total_variation.name: lambda share: 1 - share,
        confirmation.name: lambda share: -np.log(share),
        refutation.name: lambda share: np.where(share < 1, np.inf, 0.0),
    }
    if measure.name not in formulas:
        return measure

    def value(belief: Posterior) -> NDArray[np.float64]:
        share = np.where(belief.n_unlisted > 0, belief.n_unlisted / belief.n_candidates, 1.0)
        return np.asarray(formulas[measure.name](share) + 0.0, dtype=np.float64)

    return replace(measure, self_assessed=value)


# --- what the report shows besides ----------------------------------------------------------------------------


def _criteria(found: criteria.Criteria) -> dict[str, float | int | str | None]:
    return {item.name: getattr(found, item.name) for item in fields(found) if item.name != "columns"}


def _worst_classes(table: Combinations) -> tuple[ClassRisk, ...]:
    n = len(table.counts)
    success = {
        column.name: np.asarray(criteria.alpha(histogram))
        for column, histogram in zip(table.sensitive, table.histograms, strict=True)
    }
    attribute = np.max([*success.values(), np.zeros(n)], axis=0)
    order = np.lexsort((np.arange(n), -attribute, table.counts))[:WORST_CLASSES]
    return tuple(
        ClassRisk(
            number=int(j),
            rows=int(table.counts[j]),
            identity=1.0 / int(table.counts[j]),
            attribute={name: float(share[j]) for name, share in success.items()},
        )
        for j in order
    )


def _column_risks(release: str, table: Combinations) -> Iterator[ColumnRisk]:
    """Mean success of the adversary who sees classes, with every quasi-identifier and without each of them."""
    if len(table.quasi_identifiers) < 2:
        return
    complete = _class_success(table)
    for left_out in table.quasi_identifiers:
        rest = [column for column in table.quasi_identifiers if column is not left_out]
        for target, success in _class_success(table.recoded(rest)).items():
            yield ColumnRisk(release, target, left_out.name, complete[target], success)


def _class_success(table: Combinations) -> dict[str, float]:
    found = {"identity": len(table.counts) / table.n_rows}
    for column, histogram in zip(table.sensitive, table.histograms, strict=True):
        found[column.name] = 1.0 - criteria.map_error(histogram)
    return found
