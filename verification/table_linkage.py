"""The grid of `table_strings` against people drawn from the table, whose records are known, and people kept back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from show import Section, Verdict
from table_strings import BLANK, GRID, SEED, SENSITIVE, Cell, adult

from unmask.core.errors import FailedError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures import realized_success, success_probability
from unmask.measures.interval import wilson
from unmask.results import Row
from unmask.scoring import score
from unmask.tables import criteria
from unmask.tables.attacks import AttributeInference, ClassAttack
from unmask.tables.knowledge import Knowledge, Known, attribute_truth
from unmask.tables.table import Table

TARGETS = 2_000
CONTROL = 2_000


@dataclass(frozen=True, eq=False)
class Targets:
    """The people attacked in one scenario: members of the release, and people kept back from it."""

    scenario: str
    members: Known
    control: Known


@dataclass(frozen=True)
class Outcome:
    """What the adversary achieved in one release and scenario.

    t, alpha, mode : of the release: its total variation, the share of the commonest occupation in the worst class, and
    in all. found : share of control people whom some record fits.
    """

    cell: Cell
    scenario: str
    classes: int
    rows: int
    t: float
    alpha: float
    mode: float
    identity: Row
    announced: Row
    occupation: Row
    control_announced: Row
    control_occupation: Row
    found: float


def proper() -> Section:
    """The same grid against people drawn from the real table."""
    people = adult()
    order = np.random.default_rng(SEED).permutation(people.n_rows)
    inside = np.sort(order[CONTROL:])
    targets = _targets(people, inside)
    outcomes: list[Outcome] = []
    rows: list[tuple[str, ...]] = []
    for cell in GRID:
        try:
            release, origin = cell.protection(people.take(inside), rng=np.random.default_rng(SEED))
        except FailedError as error:
            rows.append((cell.name, *[""] * 8, f"not met: {error}"))
            continue
        found = [_attack(people, cell, release, inside[origin], at) for at in targets]
        outcomes += found
        rows += [_outcome_row(one) for one in found]
    at_random = outcomes[0].occupation.prior
    return Section(
        f"Linkage by meaning: the same grid, {TARGETS:,} people of the table, {CONTROL:,} people kept back",
        (
            "setting",
            "knows",
            "classes",
            "identity",
            "95 %",
            "occupation",
            "95 %",
            "control says",
            "control occ.",
            "control fits",
        ),
        tuple(rows),
        (
            "identity, occupation: realized success of the best guess, ties shared; intervals: for people like these.",
            f"Baselines: a random record {1 / len(inside):.6f}; the commonest occupation {at_random:.4f}.",
            "control: people who are not in the release. says: the identity success the attacker announces about them,",
            "in truth 0; occ.: success on their occupation; fits: share whom some record fits.",
            f"partly: each cell is unknown with chance {BLANK:.3f}, the share of blanks in scenario 2.",
            "t is the total variation, checked on both halves of every cut; t=0.15 can always be met by one class.",
        ),
        tuple(_outcome_verdicts(outcomes)),
    )


def _targets(people: Table, inside: NDArray[np.int64]) -> list[Targets]:
    """Both scenarios attack the same people."""
    found, kept_back = [], np.setdiff1d(np.arange(people.n_rows), inside)
    for name, missing in (("all", 0.0), ("partly", BLANK)):
        members, control = (
            Knowledge(number, missing=missing)(people, who, rng=np.random.default_rng([SEED, number, at]))
            for at, (number, who) in enumerate(((TARGETS, inside), (CONTROL, kept_back)))
        )
        found.append(Targets(name, members, control))
    return found


def _attack(people: Table, cell: Cell, release: Table, origin: NDArray[np.int64], targets: Targets) -> Outcome:
    identity, occupation = ClassAttack(), AttributeInference(SENSITIVE)
    who, control = targets.members.background, targets.control.background
    belief, about_control = identity(release, who), identity(release, control)
    truth = targets.members.truth_in(origin)
    disclosed = criteria.evaluate(release).columns[SENSITIVE]
    return Outcome(
        cell=cell,
        scenario=targets.scenario,
        classes=len(release.classes.sizes),
        rows=release.n_rows,
        t=disclosed.t_equal,
        alpha=disclosed.alpha,
        mode=1 - disclosed.prior_error,
        identity=_realized(belief, truth),
        announced=_announced(belief),
        occupation=_value(occupation(release, who), people, targets.members),
        control_announced=_announced(about_control),
        control_occupation=_value(occupation(release, control), people, targets.control),
        found=float((success_probability.per_target(about_control) > 0).mean()),
    )


def _value(belief: Posterior, people: Table, known: Known) -> Row:
    return _realized(belief, attribute_truth(people, known.person, belief, SENSITIVE))


def _realized(belief: Posterior, truth: Truth) -> Row:
    return score(belief, truth, measures=(realized_success,), drawn_from=math.inf).rows[0]


def _announced(belief: Posterior) -> Row:
    return score(belief, measures=(success_probability,)).rows[0]


def _outcome_row(one: Outcome) -> tuple[str, ...]:
    return (
        one.cell.name,
        one.scenario,
        str(one.classes),
        f"{one.identity.posterior:.4f}",
        _interval(one.identity, 4),
        f"{one.occupation.posterior:.3f}",
        _interval(one.occupation, 3),
        f"{one.control_announced.posterior:.4f}",
        f"{one.control_occupation.posterior:.3f}",
        f"{one.found:.3f}",
    )


def _interval(row: Row, digits: int) -> str:
    # one class of all people leaves one observation, and no spread between observations to judge by
    low, high = (row.low, row.high) if row.low is not None else wilson(row.posterior, row.n)
    return f"{low:.{digits}f}-{high:.{digits}f}"


def _outcome_verdicts(outcomes: list[Outcome]) -> Iterator[Verdict]:
    at = {(one.cell.name, one.scenario): one for one in outcomes}
    complete = [one for one in outcomes if one.scenario == "all"]
    yield _closed_form(complete)
    gap = max(abs(one.identity.posterior - one.announced.posterior) for one in complete)
    yield Verdict(
        "announced identity success is realized, all cells known", "exact belief", f"largest gap {gap:.1e}", gap < 1e-6
    )
    for name in ("identity", "occupation"):
        # true in expectation: where t = 0.15 leaves next to nothing, 2,000 targets differ by chance alone
        pairs = [(getattr(at[one.cell.name, "partly"], name), getattr(one, name)) for one in complete]
        less = sum((part.posterior if part.low is None else part.low) <= whole.posterior for part, whole in pairs)
        yield Verdict(
            f"who knows less is less often right: {name}",
            "fewer matches",
            f"{less} of {len(complete)}",
            less == len(complete),
        )
    k3, k100 = at["k=3", "all"], at["k=100", "all"]
    fold, kept = k3.identity.posterior / k100.identity.posterior, k100.occupation.posterior / k3.occupation.posterior
    yield Verdict("k=3 to k=100: identity falls several-fold", "45 to 21 matches", f"{fold:.1f}-fold", fold > 3)
    yield Verdict(
        "identity falls three times as much as occupation", "not measured", f"{fold * kept:.1f} x", fold * kept > 3
    )
    yield Verdict(
        "occupation barely moves: 90 % is left", "94 % (coarser cut)", f"{kept:.0%} is left", kept > 0.9, required=False
    )
    same = max(
        abs(at[f"k={k}, l=2", "all"].occupation.posterior - at[f"k={k}", "all"].occupation.posterior)
        for k in (10, 20, 50, 100)
    )
    yield Verdict(
        "l=2 does not protect occupation, k >= 10", "equal counts", f"changes by {same:.3f} at most", same < 0.01
    )
    above = [one for one in complete if one.cell.t is None and (one.occupation.low or 0) > one.occupation.prior]
    wanted = sum(one.cell.t is None for one in complete)
    yield Verdict(
        "occupation is inferred beyond its prior without t",
        "not measured",
        f"{len(above)} of {wanted}",
        len(above) == wanted,
    )
    close = [one for one in complete if one.cell.t is not None]
    met = sum(one.t <= (one.cell.t or 0) + 1e-9 and one.alpha <= one.mode + one.t + 1e-9 for one in close)
    yield Verdict(
        "t=0.15 is met and bounds the worst class: mode + t",
        "not met by the code",
        f"{met} of {len(close)}",
        met == len(close),
    )
    few = f"{min(one.classes for one in close)} to {max(one.classes for one in close)} classes"
    yield Verdict(
        "t=0.15 leaves 2 classes",
        "2 (full-domain, 5 columns)",
        few,
        all(one.classes <= 2 for one in close),
        required=False,
    )


def _closed_form(complete: list[Outcome]) -> Verdict:
    """Success of a uniform guess in the class is classes / rows; the intervals are doubled, as there are 22 of them."""
    inside = 0
    for one in complete:
        low, high = (
            wilson(one.identity.posterior, one.identity.n)
            if one.identity.low is None
            else (one.identity.low, one.identity.high or 1.0)
        )
        inside += abs(one.classes / one.rows - one.identity.posterior) <= high - low
    return Verdict(
        "identity success is classes / rows, all cells known",
        "closed form",
        f"{inside} of {len(complete)}",
        inside == len(complete),
    )
