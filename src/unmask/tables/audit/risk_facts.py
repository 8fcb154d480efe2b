"""Facts about the belief of one attack: success over people, and inferred sensitive values with their finding."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import distinct
from unmask.core.distinct_rows import distinct_rows
from unmask.core.posterior import Posterior, equal_weights
from unmask.core.truth import UNKNOWN
from unmask.measures import success_probability
from unmask.measures.sensitive_values import mask_sensitive_values, rank_by_frequency, sensitive_probability
from unmask.results import Block, Column, Table, View
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, percent
from unmask.results.names import IDENTITY, LIMITS
from unmask.results.rows import ORIGINAL
from unmask.results.table import Record
from unmask.results.words import format_count, start_with_release
from unmask.tables.audit.attack_run import AttackRun

SUCCESS_EDGES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.09, 0.2, 0.5, 1.0)
"""Success probabilities between which people are counted, the upper one included; each of `LIMITS` is one of them."""


def distribute_success(run: AttackRun) -> Distribution:
    """Count people by the adversary's self-assessed probability of being right about them.

    The adversary is right about a record, or about the likeliest sensitive value. The probability of a person who is
    not released is 0. A person with several targets counts by the riskiest one.
    """
    (success, weight), people = _weigh_success(run), run.n_people
    values = distinct(success)
    mass = np.bincount(np.searchsorted(values, success), weight)
    counts = np.bincount(
        np.maximum(np.searchsorted(SUCCESS_EDGES, values, side="left") - 1, 0), mass, len(SUCCESS_EDGES) - 1
    )
    population = run.drawn_from or 0
    distribution = Distribution(
        run.release,
        run.adversary,
        run.target,
        SUCCESS_EDGES,
        tuple(float(share) for share in counts / counts.sum()),
        people,
        each=tuple(zip(values.tolist(), mass.tolist(), strict=True)),
        drawn_from=int(population) if people < population < math.inf else 0,
    )
    return distribution.at(LIMITS.values())


def assess_success(run: AttackRun) -> tuple[Posterior, Floats]:
    """Return a belief about the same targets, and the success probability of each of its rows.

    About identity, these are the distinct rows; the sensitive values of a row depend on the names of its candidates.
    """
    assert success_probability.self_assessed is not None
    if run.target == IDENTITY:
        belief = distinct_rows(run.belief).posterior
        success = success_probability.self_assessed(belief)
    else:
        belief, success = run.belief, sensitive_probability(run.belief)
    return belief, np.round(success, 9)  # 1 / 10 by its logarithm is not below 0.1


def _weigh_success(run: AttackRun) -> tuple[Floats, Floats]:
    """Return success probabilities, and the weight of people with each."""
    belief, success = assess_success(run)
    weight, unreleased = belief.observation_weight, run.is_unreleased
    if run.person is not None:
        row_success, riskiest = success[belief.observation], np.zeros(run.n_people)
        np.maximum.at(
            riskiest, run.person, row_success if unreleased is None else np.where(unreleased, 0.0, row_success)
        )
        return riskiest, equal_weights(run.n_people)
    if unreleased is not None:
        excluded_weight = np.bincount(belief.observation, belief.weight * unreleased, len(weight))
        success, weight = np.append(success, 0.0), np.append(weight - excluded_weight, excluded_weight.sum())
    return success, weight


def list_value_risks(run: AttackRun) -> tuple[ValueRisk, ...]:
    """Return for each sensitive value its prior, the highest belief, and the people with this inference.

    Values that rise most come first, the most common value last. Missing values and impossible ones are left out. A
    value has its rank before the release for a name: no cell is repeated in a report.

    >>> from unmask import Posterior, Truth
    >>> belief = Posterior.from_dense(
    ...     np.array([[0.9, 0.1], [0.4, 0.6]]), prior=np.array([0.8, 0.2]), candidate_label=("none", "HIV")
    ... )
    >>> [
    ...     (risk.value, risk.secret, round(risk.prior, 2), round(risk.highest, 2), risk.people, risk.right)
    ...     for risk in list_value_risks(AttackRun("r", "prosecutor", "ill", belief, Truth([0, 0])))
    ... ]
    [('no. 2', True, 0.2, 0.6, 1, 0.0), ('no. 1', False, 0.8, 0.9, 1, 1.0)]
    """
    belief, rank = run.belief, rank_by_frequency(run.belief)
    assert belief.candidate_label is not None
    row = np.repeat(np.arange(belief.n_observations), np.diff(belief.indptr))
    value, p = belief.candidate, np.exp(belief.log_probability, dtype=np.float64)
    attacked = belief.observation_weight[row] > 0
    if not attacked.all():
        row, value, p = row[attacked], value[attacked], p[attacked]
    highest = np.zeros(belief.n_candidates)
    np.maximum.at(highest, value, p)
    inferred = _count_inferred(run, row, value, p)
    prior = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    is_sensitive = mask_sensitive_values(belief)
    return tuple(
        ValueRisk(
            run.release,
            run.target,
            rank[v],
            float(prior[v]),
            float(highest[v]),
            round(float(inferred.people[v])),
            run.n_people,
            secret=bool(is_sensitive[v]),
            believed=_ratio(inferred.believed[v], inferred.weight[v]),
            right=None if run.truth is None else _ratio(inferred.right_weight[v], inferred.judged_weight[v]),
        )
        for v in np.lexsort((prior - highest, ~is_sensitive)).tolist()
        if highest[v] > 0 and belief.candidate_label[v]
    )


class _Inferred(NamedTuple):
    """People with each value as more likely than not, arrays of length n_values.

    weight and believed are their weight and the sum of the beliefs; judged_weight and right_weight are the
    weight of those with a known truth, and of those who have the value.
    """

    people: Floats
    weight: Floats
    believed: Floats
    judged_weight: Floats
    right_weight: Floats


def _count_inferred(run: AttackRun, row: Integers, value: NDArray[np.int32], p: Floats) -> _Inferred:
    belief, n = run.belief, run.belief.n_candidates
    likely = np.round(p, 9) > LIMITS["value"]  # as in `distribute_success`; at most one value of a row
    row, value = row[likely], value[likely]
    mass = belief.observation_weight[row] * run.n_targets
    weight, believed = (_sum_by_value(value, values, n) for values in (mass, mass * p[likely]))
    if run.person is None and run.truth is None:
        return _Inferred(weight, weight, believed, *np.zeros((2, n)))
    inferred = np.full(belief.n_observations, -1)
    inferred[row] = value
    people, of_target = weight, inferred[belief.observation]
    if run.person is not None:
        counted = run.count_people(of_target + 1)[1:]
        people = np.pad(counted, (0, n - len(counted))).astype(np.float64)
    if run.truth is None:
        return _Inferred(people, weight, believed, *np.zeros((2, n)))
    judged_people = np.flatnonzero((run.truth.candidate != UNKNOWN) & (of_target >= 0))
    mass = belief.weight[judged_people] * belief.n_targets
    is_right = run.truth.candidate[judged_people] == of_target[judged_people]
    n_judged, n_right = (_sum_by_value(of_target[judged_people], values, n) for values in (mass, mass * is_right))
    return _Inferred(people, weight, believed, n_judged, n_right)


def _sum_by_value(value: NDArray[np.integer], mass: Floats, n_values: int) -> Floats:
    return np.bincount(value, mass, n_values).astype(np.float64)  # integers if there are no people


def _ratio(part: float, total: float) -> float | None:
    return float(part / total) if total > 0 else None


# --- findings about inferred values -----------------------------------------------------------------------------------

N_VALUES = 10
"""Values of a column that a page shows."""


class ValueRisk(NamedTuple):
    """Belief of an adversary who knows the quasi-identifiers in one value of a sensitive column.

    Parameters
    ----------
    release, target : str
        Release and sensitive column.
    value : str
        Rank of the value before the release, such as "no. 2"; never the value itself.
    prior, highest : float
        Probability before the release, and the highest probability for any person.
    people, n : int
        People with this inferred value (with more than one half), and all people.
    secret : bool
        False for the most common value.
    believed, right : float, optional
        Share of the inferences that are right, as the adversary believes, and in truth; None without inferences or
        truth.
    """

    release: str
    target: str
    value: str
    prior: float
    highest: float
    people: int
    n: int
    secret: bool = True
    believed: float | None = None
    right: float | None = None


COLUMNS = (
    Column("release", "Release"), Column("target"), Column("value", "Value, by how common it is", "name", of="prior"),
    Column("prior", "Have it", "share", of="n"), Column("highest", "Highest belief", "share"),
    Column("people", "People inferred", "people", of="n"), Column("n", "People", "number"), Column("secret"),
    Column("believed", "Right, as believed", "percent_of_people", of="people"),
    Column("right", "Right", "percent_of_people", of="people"),
)  # fmt: skip

SHOWN = ("value", "prior", "highest", "people", "believed", "right")

EXPLANATION = (
    "An adversary who knows the quasi-identifiers infers a value if they believe it with more than one half. The most "
    "common value, no. 1, is left out: inferring it for all people is often right and reveals nothing. Right is the "
    "share of these inferences that are correct{source}. Values whose probability rises most come first."
)


def value_table(values: Iterable[ValueRisk]) -> Table:
    """Return the table of the values of all releases."""
    return replace(Table.from_records("values", COLUMNS, values), series=("release", "target"))


def value_block(table: Table, targets_with_truth: Collection[str]) -> Block | None:
    """Return a table for each column and release, and the value that is inferred for most people."""
    secrets = table.where(secret=True)
    if not secrets.rows:
        return None
    truth_known = all(target in targets_with_truth for target in secrets.values("target"))
    source = "" if truth_known else ", as the adversary believes, for the truth was not given"
    introduction = EXPLANATION.format(source=source)
    views = tuple(_views(secrets))
    return Block("values", "Which values are found out", describe_values, (), views, introduction)


def _views(secrets: Table) -> Iterator[View]:
    several = len(set(secrets.values("release"))) > 1
    groups = [(row["release"], row["target"]) for row in secrets.rows]
    for release, target in dict.fromkeys(groups):
        n_values = groups.count((release, target))
        limit_text = f", {N_VALUES} of {n_values} values" if n_values > N_VALUES else ""
        title = f"{target}{f', {release}' if several else ''}{limit_text}"
        yield View("values", SHOWN, {"release": release, "target": target, "secret": True}, title, N_VALUES)


def describe_values(tables: Mapping[str, Table]) -> str:
    """Return the value that is inferred for most people, and how often classes reveal a number."""
    secrets = tables["values"].where(secret=True)
    return " ".join(filter(None, (_describe_most(secrets), describe_near(tables["criteria"]))))


def _describe_most(secrets: Table) -> str:
    if not secrets.rows:
        return ""
    several = len(set(secrets.values("release"))) > 1
    inferred = [row for row in secrets.rows if row["people"]]
    row = max(inferred, key=_n_inferred) if inferred else max(secrets.rows, key=lambda row: row["highest"])
    value = f"{name_value(row['value'])} of {row['target']} (held by {percent(row['prior'])})"
    if not inferred:
        sentence = (
            f"no value of {row['target']} except the most common one is inferred for any person. The closest is "
            f"{value}, believed with at most {percent(row['highest'])}."
        )
    else:
        people = f"{format_count(row['people'])} of {row['n']:,} people"
        sentence = f"for {people} the adversary infers {value}.{_describe_right(row)}"
    return start_with_release(sentence, row["release"], several=several)


def _n_inferred(row: Record) -> tuple[bool, int, float]:
    people = row["people"]
    return isinstance(people, int), people if isinstance(people, int) else 0, row["highest"]


def _describe_right(row: Record) -> str:
    if row["right"] is not None:
        return f" {percent(row['right'], 0)} of these inferences are right."
    return "" if row["believed"] is None else f" {percent(row['believed'], 0)} of them should be right."


def name_value(value: str) -> str:
    """Return the name of a value in a sentence.

    >>> name_value("no. 2")
    'value no. 2'
    """
    return f"value {value}" if value.startswith("no. ") else value


def describe_near(criteria: Table) -> str:
    """Return how often a person's class reveals a number within 10 %, in the release that reveals most."""
    shares = [row for row in criteria.rows if row.get("near_average") is not None and row["release"] != ORIGINAL]
    if not shares:
        return ""
    row = max(shares, key=lambda row: row["near_average"])
    sentence = (
        f"a person's class tells their {row['near_of']} within 10{SPACE}% for {percent(row['near_average'])} of "
        f"people; the numbers of the table alone do so for {percent(row['near_prior'])}."
    )
    n_releases = len({row["release"] for row in criteria.rows} - {ORIGINAL})
    return start_with_release(sentence, row["release"], several=n_releases > 1)
