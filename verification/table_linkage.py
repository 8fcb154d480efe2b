"""The grid of `table_strings` against people of the table; and identity and attribute risk by k on one scale."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from show import Section, Verdict
from table_strings import BLANK_SHARE, GRID, SEED, SENSITIVE, Setting, read_adult

from unmask.core.errors import FailedError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures import realized_success, success_probability
from unmask.measures.interval import wilson
from unmask.results import Row
from unmask.scoring import score
from unmask.tables import criteria, datasets
from unmask.tables.attacks import AttributeInference, ClassAttack
from unmask.tables.knowledge import Knowledge, Known, attribute_truth
from unmask.tables.protections.mondrian import Mondrian
from unmask.tables.table import Table

TARGETS = 2_000
CONTROL = 2_000


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets in one scenario: members of the release, and a control group."""

    scenario: str
    members: Known
    control: Known


@dataclass(frozen=True)
class Outcome:
    """Success of the adversary in one release and scenario.

    t, alpha, mode : of the release: total variation, share of the most frequent occupation in the worst class and in
        all. matched : share of the control group that some record fits
    """

    setting: Setting
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
    matched: float

    @property
    def cells(self) -> tuple[object, ...]:
        """Cells of a table."""
        return (
            *(self.setting.name, self.scenario, self.classes, f"{self.identity.posterior:.4f}"),
            *(_format_interval(self.identity, 4), f"{self.occupation.posterior:.3f}"),
            *(_format_interval(self.occupation, 3), f"{self.control_announced.posterior:.4f}"),
            *(f"{self.control_occupation.posterior:.3f}", f"{self.matched:.3f}"),
        )


HEADER = (
    *("setting", "knows", "classes", "identity", "95 %", "occupation", "95 %", "control announced", "control occ."),
    "control fits",
)


def verify_linkage() -> Section:
    """Attack the same grid with people drawn from the real table."""
    people = read_adult()
    order = np.random.default_rng(SEED).permutation(people.n_rows)
    members = np.sort(order[CONTROL:])
    targets = _draw_targets(people, members)
    outcomes: list[Outcome] = []
    rows: list[tuple[object, ...]] = []
    for setting in GRID:
        try:
            release, origin = setting.protection(people.take(members), rng=np.random.default_rng(SEED))
        except FailedError as error:
            rows.append((setting.name, *[""] * 8, f"not met: {error}"))
            continue
        results = [_attack(people, setting, release, members[origin], each) for each in targets]
        outcomes += results
        rows += [outcome.cells for outcome in results]
    return Section(
        f"Linkage by values: the same grid, {TARGETS:,} people of the table, a control group of {CONTROL:,}",
        HEADER,
        rows,
        (
            "identity, occupation: realized success of the best guess, ties shared; intervals: for people like these.",
            f"Baselines: a random record {1 / len(members):.6f}; the most frequent occupation {PRIOR}.",
            "control: people who are not in the release. announced: identity success about them, in truth 0;",
            "occ.: success on their occupation; fits: share that some record fits.",
            f"partly: each cell is unknown with probability {BLANK_SHARE:.3f}, the share of blanks in scenario 2.",
            "t is the total variation, checked on both halves of every cut; t=0.15 can always be met by one class.",
        ),
        (*_expected_everywhere(outcomes), *_effect_of_criteria(outcomes)),
    )


def _draw_targets(people: Table, members: NDArray[np.int64]) -> list[Targets]:
    """Return the same people for both scenarios."""
    groups = ((TARGETS, members), (CONTROL, np.setdiff1d(np.arange(people.n_rows), members)))
    return [
        Targets(
            name,
            *(
                Knowledge(number, missing=missing)(people, group, rng=np.random.default_rng([SEED, number, i]))
                for i, (number, group) in enumerate(groups)
            ),
        )
        for name, missing in (("all", 0.0), ("partly", BLANK_SHARE))
    ]


def _attack(people: Table, setting: Setting, release: Table, origin: NDArray[np.int64], targets: Targets) -> Outcome:
    identity, occupation = ClassAttack(), AttributeInference(SENSITIVE)
    members, control = targets.members.background, targets.control.background
    belief, control_belief = identity(release, members), identity(release, control)
    disclosed = criteria.evaluate(release).columns[SENSITIVE]
    return Outcome(
        setting=setting,
        scenario=targets.scenario,
        classes=len(release.classes.sizes),
        rows=release.n_rows,
        t=disclosed.t_equal or 0.0,
        alpha=disclosed.alpha or 0.0,
        mode=1 - (disclosed.prior_error or 0.0),
        identity=_measure_realized(belief, targets.members.truth_in(origin)),
        announced=_measure_announced(belief),
        occupation=_measure_value(occupation(release, members), people, targets.members),
        control_announced=_measure_announced(control_belief),
        control_occupation=_measure_value(occupation(release, control), people, targets.control),
        matched=float((success_probability.per_target(control_belief) > 0).mean()),
    )


def _measure_value(belief: Posterior, people: Table, targets: Known) -> Row:
    return _measure_realized(belief, attribute_truth(people, targets.person, belief, SENSITIVE))


def _measure_realized(belief: Posterior, truth: Truth) -> Row:
    return score(belief, truth, measures=(realized_success,), drawn_from=math.inf).rows[0]


def _measure_announced(belief: Posterior) -> Row:
    return score(belief, measures=(success_probability,)).rows[0]


def _interval(row: Row) -> tuple[float, float]:
    # One class of all people leaves one observation, and no spread between observations.
    return (row.low, row.high or 1.0) if row.low is not None else wilson(row.posterior, row.n)


def _format_interval(row: Row, digits: int) -> str:
    low, high = _interval(row)
    return f"{low:.{digits}f}-{high:.{digits}f}"


def _count(claim: str, published: str, flags: list[bool], *, required: bool = True) -> Verdict:
    return Verdict(claim, published, f"{sum(flags)} of {len(flags)}", all(flags), required=required)


def _expected_everywhere(outcomes: list[Outcome]) -> Iterator[Verdict]:
    complete = [outcome for outcome in outcomes if outcome.scenario == "all"]
    partly = {outcome.setting.name: outcome for outcome in outcomes if outcome.scenario == "partly"}
    # Success of a uniform guess in the class is classes / rows; intervals are doubled, as there are 22 of them.
    closed_form = [
        abs(o.classes / o.rows - o.identity.posterior) <= np.subtract(*_interval(o.identity)[::-1]) for o in complete
    ]
    yield _count("identity success is classes / rows, all cells known", "closed form", closed_form)
    gap = max(abs(outcome.identity.posterior - outcome.announced.posterior) for outcome in complete)
    claim = "announced identity success is realized, all cells known"
    yield Verdict(claim, "exact belief", f"largest gap {gap:.1e}", gap < 1e-6)
    for name in ("identity", "occupation"):
        # True in expectation: t = 0.15 leaves so little that 2,000 targets differ by chance.
        pairs = [(getattr(partly[o.setting.name], name), getattr(o, name)) for o in complete]
        lower = [
            (part.posterior if part.low is None else part.low) <= complete_row.posterior for part, complete_row in pairs
        ]
        yield _count(f"less knowledge, less success: {name}", "fewer matches", lower)
    plain = [outcome for outcome in complete if outcome.setting.t is None]
    exceeds = [(outcome.occupation.low or 0) > outcome.occupation.prior for outcome in plain]
    yield _count("occupation is inferred beyond its prior without t", "not measured", exceeds)
    close = [outcome for outcome in complete if outcome.setting.t is not None]
    met = [o.t <= (o.setting.t or 0) + 1e-9 and o.alpha <= o.mode + o.t + 1e-9 for o in close]
    yield _count("t=0.15 is met and bounds the worst class: mode + t", "not met by the code", met)
    text = f"{min(o.classes for o in close)} to {max(o.classes for o in close)} classes"
    is_two = all(outcome.classes <= 2 for outcome in close)
    yield Verdict("t=0.15 leaves 2 classes", "2 (full-domain, 5 columns)", text, is_two, required=False)


def _effect_of_criteria(outcomes: list[Outcome]) -> Iterator[Verdict]:
    by_name = {outcome.setting.name: outcome for outcome in outcomes if outcome.scenario == "all"}
    first, last = by_name["k=3"], by_name["k=100"]
    fold = first.identity.posterior / last.identity.posterior
    remaining = last.occupation.posterior / first.occupation.posterior
    yield Verdict("k=3 to k=100: identity falls several-fold", "45 to 21 matches", f"{fold:.1f}-fold", fold > 3)
    claim = "identity falls three times as much as occupation"
    yield Verdict(claim, "not measured", f"{fold * remaining:.1f} x", fold * remaining > 3)
    claim = "occupation barely changes: 90 % is left"
    yield Verdict(claim, "94 % (coarser cut)", f"{remaining:.0%} is left", remaining > 0.9, required=False)
    change = max(
        abs(by_name[f"k={k}, l=2"].occupation.posterior - by_name[f"k={k}"].occupation.posterior)
        for k in (10, 20, 50, 100)
    )
    claim = "l=2 does not protect occupation, k >= 10"
    yield Verdict(claim, "equal counts", f"changes by {change:.3f} at most", change < 0.01)


# --- identity and attribute risk by k --------------------------------------------------------------------------------

QIYUANGONG = {
    3: (846, 0.0281, 0.333, 0.293, 1.00, 0.935, 0.568, 1.00),
    10: (489, 0.0162, 0.100, 0.286, 1.00, 0.866, 0.518, 1.00),
    20: (351, 0.0116, 0.050, 0.283, 0.93, 0.803, 0.488, 1.34),
    50: (218, 0.0072, 0.020, 0.279, 0.90, 0.769, 0.450, 1.56),
    100: (155, 0.0051, 0.010, 0.276, 0.85, 0.712, 0.426, 1.71),
}
"""k -> the criteria of another Mondrian (49d49cf), categories sorted: a cut that refuses a median in the last value."""

CRITERIA = ("classes", "identity", "worst", "occupation", "worst", "t (TV)", "I(X;Y) bits", "entropy l")
PRIOR = 0.1339
"""Share of the most frequent occupation."""


def verify_criteria() -> Section:
    """Compare identity and occupation risk of k-anonymous Adult with those of another cut, and with our attacks."""
    releases = {k: Mondrian(k=k)(datasets.adult(), rng=np.random.default_rng(SEED))[0] for k in QIYUANGONG}
    ours = {k: _evaluate(release) for k, release in releases.items()}
    gap = max(
        abs(value - expected)
        for k, release in releases.items()
        for value, expected in zip(ours[k][1:5], _attack_without_knowledge(release), strict=True)
    )
    rows = ((k, name, *lines[k]) for k in QIYUANGONG for name, lines in (("qiyuangong", QIYUANGONG), ("ours", ours)))
    return Section(
        "Risk by k: Adult, 30,162 rows, age, education-num, marital-status, race, sex",
        ("k", "cut", *CRITERIA),
        rows,
        (f"Prior: identity 1 / 30,162, occupation {PRIOR}. Our cut takes the allowable position nearest the median.",),
        (
            *_risk_verdicts(ours),
            Verdict("criteria and attacks give the same numbers", "equal", f"largest gap {gap:.1e}", gap < 1e-6),
        ),
    )


def _evaluate(release: Table) -> tuple[Any, ...]:
    result = criteria.evaluate(release)
    column = result.columns[SENSITIVE]
    risks = (result.prosecutor_average, result.prosecutor_max, column.average_privacy_risk, column.alpha)
    return result.classes, *risks, column.t_equal, column.information_bits, column.l_entropy


def _attack_without_knowledge(release: Table) -> tuple[float, ...]:
    rows = [_measure_announced(attack(release)) for attack in (ClassAttack(), AttributeInference(SENSITIVE))]
    return tuple(value for row in rows for value in (row.posterior, row.worst))


def _risk_verdicts(ours: dict[int, tuple[Any, ...]]) -> Iterator[Verdict]:
    fold, other_fold = (lines[3][1] / lines[100][1] for lines in (ours, QIYUANGONG))
    remaining, other_left = (lines[100][3] / lines[3][3] for lines in (ours, QIYUANGONG))
    claim = "k=3 to k=100: identity success falls several-fold"
    yield Verdict(claim, f"{other_fold:.1f}-fold", f"{fold:.1f}-fold", fold > 4)
    claim = "identity falls three times as much as occupation"
    yield Verdict(claim, f"{other_fold * other_left:.1f} x", f"{fold * remaining:.1f} x", fold * remaining > 3)
    # A coarse cut has little to lose: at k=3 it leaves 846 classes, ours 3,082, some of one value by chance.
    claim = "occupation success barely changes: 90 % is left"
    yield Verdict(claim, f"{other_left:.0%}", f"{remaining:.0%}", remaining > 0.9, required=False)
    twice = all(line[3] > 2 * PRIOR for line in ours.values())
    claim = "occupation stays twice its prior at every k"
    yield Verdict(claim, "0.276 of 0.134", f"{ours[100][3]:.3f} of 0.134", twice)
    worst = " ".join(f"{line[2]:.3f}" for line in ours.values())
    holds = all(line[2] <= 1 / k for k, line in ours.items())
    yield Verdict("the largest risk is no more than 1/k", "1/k", worst, holds)
    falls = all(a[1] > b[1] and a[6] > b[6] for a, b in pairwise(ours.values()))
    yield Verdict("identity and I(X;Y) fall with k", "0.568 to 0.426", f"{ours[3][6]:.3f} to {ours[100][6]:.3f}", falls)
