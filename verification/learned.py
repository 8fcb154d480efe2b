"""Inference from all rows about similar people: `UNMASK_DATA=... python verification/learned.py`.

Members are people whom a release was made of, control people others of the same population. Numbers stand beside those
of an independent prototype on the same data.

1. Occupation through Mondrian's boxes, Adult and NIST: members, and control people by how those in no box are read.
2. What the best attacker knows of control people: back-off, logistic regression, boosted trees.
3. The CTGAN release of Adult: announced is realized, members are known no better, what it repeats.
4. Control people who are unlike members: AUC, the excess as it is and weighted.
5. The learner whom control people told, on other releases.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from control_people import CTGAN, adult, ctgan
from numpy.typing import NDArray
from show import Section, Verdict, run
from sklearn.linear_model import LogisticRegression
from synthesizers import ChowLiu, Independent, Trees

from unmask import Posterior, Truth
from unmask.measures import log_loss_bits, realized_success, success_probability
from unmask.measures.excess import Excess, People, excess
from unmask.scoring import check_status
from unmask.tables import (
    AttributeInference,
    Background,
    BackOff,
    ClassAttack,
    ModelAttribute,
    Mondrian,
    NearestNeighbor,
    Table,
    criteria,
    datasets,
)
from unmask.tables.audit.equivalence_classes import cluster_targets, first_records
from unmask.tables.control.calibration import calibrate_by_control
from unmask.tables.control.similarity import measure_shift
from unmask.tables.knowledge import attribute_truth

Inside = NDArray[np.bool_]

NIST = ("PUMA", "AGEP", "SEX", "RAC1P", "MSP", "EDU")

BOXES = {
    ("Adult", 5): (0.3700, 0.2716, 0.2755, 0.2790),
    ("Adult", 10): (0.3513, 0.2825, 0.2848, 0.2870),
    ("Adult", 50): (0.3226, 0.2985, 0.2994, 0.2995),
    ("NIST", 5): (0.531, 0.413, None, None),
    ("NIST", 10): (0.497, 0.429, None, None),
    ("NIST", 50): (0.455, 0.437, None, None),
}
"""Data and k -> success on members, and on control people with the margin, the closest box, a model of the release."""


# --- 1 and 2: boxes --------------------------------------------------------------------------------------------------


@cache
def people(name: str) -> tuple[Table, Inside]:
    """Everybody, and who is a member."""
    if name == "Adult":
        columns, n = adult()
        kept = {one: columns[one] for one in (*datasets.Q5, "occupation")}
        table = Table.read(kept, quasi_identifiers=datasets.Q5, sensitive="occupation", na=())
        return table, np.arange(table.n_rows) < n
    with gzip.open(datasets.locate("nist/national2019.csv.gz"), "rt") as lines:
        rows = list(csv.DictReader(lines))
    kept = {one: [row[one] for row in rows] for one in (*NIST, "INDP_CAT")}
    types = {one: "number" if one == "AGEP" else "text" for one in kept}
    table = Table.read(kept, quasi_identifiers=NIST, sensitive="INDP_CAT", types=types, na=())
    return table, np.random.default_rng(0).permutation(table.n_rows) % 3 > 0


@cache
def released(name: str, k: int) -> Table:
    """Mondrian's release of the members."""
    table, inside = people(name)
    return Mondrian(k=k)(table.take(inside), rng=np.random.default_rng(0))[0]


def known(name: str) -> Background:
    """Everybody's quasi-identifiers, and the members' shares of the secret."""
    table, inside = people(name)
    return Background(replace(table, sensitive=()), table.take(inside))


def side(belief: Posterior, table: Table, inside: Inside, clusters: NDArray[np.int64] | None = None) -> Excess:
    """Members against control people."""
    truth = attribute_truth(table, np.arange(table.n_rows), belief, table.sensitive[0].name)
    sides = (People.of(realized_success, belief, truth, cluster=clusters, mask=who) for who in (inside, ~inside))
    return excess(realized_success, *sides)


def boxes() -> Section:
    """Three ways to read people in no box."""
    rows, verdicts, apart = [], [], ""
    for (name, k), (members, *expected) in BOXES.items():
        (table, inside), release, told = people(name), released(name, k), known(name)
        secret, link = table.sensitive[0].name, ClassAttack()(released(name, k), known(name))
        nobody = (link.row_length == 0)[link.observation]
        learned = AttributeInference(secret).through(link, release, told)
        margin = AttributeInference(secret).through(link, release, Background(None, told.population))
        closest = AttributeInference(secret, link=NearestNeighbor())(release, told)
        near = np.where(nobody[:, None], closest.to_dense(), learned.to_dense())
        read = {
            "margin": margin,
            "closest box": Posterior.from_dense(
                near / near.sum(axis=1, keepdims=True), candidate_label=margin.candidate_label
            ),
            "model": learned,
        }
        for (way, belief), value in zip(read.items(), expected, strict=True):
            found = side(belief, table, inside, cluster_targets(link))
            rows.append((f"{name}, k = {k}", way, *(f"{x:.4f}" for x in found[:2]), f"{found.excess:.4f}"))
            if (name, k, way) == ("Adult", 10, "margin"):
                half = _half(side(belief, table, inside, first_records(link) + 1))
                claim = "Adult, k = 10, margin: half of the interval, people in no box as one box"
                verdicts.append(Verdict(claim, "0.0104", f"{half:.4f}", abs(half - 0.0104) < 2e-4))
                apart = (
                    f"`unmask audit` takes people in no box to have luck of their own: half is {_half(found):.4f} then."
                )
            if value is not None:
                within = (1e-3 if way == "model" else 5e-4) if name == "Adult" else 0.02
                off = abs(found.control - value)
                claim = f"{name}, k = {k}: control people, {way}"
                verdicts.append(Verdict(claim, f"{value:.4f}", f"{found.control:.4f}", off <= within))
            if way == "model":
                within, off = (5e-4 if name == "Adult" else 0.012), abs(found.members - members)
                claim = f"{name}, k = {k}: members"
                verdicts.append(Verdict(claim, f"{members:.4f}", f"{found.members:.4f}", off <= within))
    head = ("release", "people in no box", "members", "control", "excess")
    note = "Of NIST neither the prototype's sixth column nor its draw of two thirds is known; here it is EDU."
    return Section("A secret through Mondrian's boxes", head, tuple(rows), (note, apart), tuple(verdicts))


def _half(found: Excess) -> float:
    """Half of the interval."""
    assert found.low is not None
    assert found.high is not None
    return (found.high - found.low) / 2


def best() -> Section:
    """Who learns from the release k = 10 of Adult; the class attacker's excess is above the strongest of them."""
    (table, inside), release, told = people("Adult"), released("Adult", 10), known("Adult")
    boosted = "sklearn.ensemble:HistGradientBoostingClassifier"
    attacks = (
        BackOff("occupation"),
        ModelAttribute("occupation", LogisticRegression(max_iter=500)),
        ModelAttribute("occupation", estimator=boosted),
    )
    rows, reached = [], []
    for attack in attacks:
        start = time.process_time()
        belief = attack(release, told)
        cost = time.process_time() - start
        found = side(belief, table, inside)
        sure = success_probability.per_target(belief)[~inside].mean()
        reached.append(found.control)
        name = repr(attack).replace("sensitive='occupation', ", "")
        rows.append((name, *(f"{x:.4f}" for x in (found.members, found.control, sure)), f"{cost:.1f}"))
    classes = side(AttributeInference("occupation")(release, told), table, inside).members
    above = classes - max(reached)
    verdicts = (
        Verdict("boosted trees on control people", "0.312", f"{reached[2]:.4f}", abs(reached[2] - 0.312) <= 0.005),
        Verdict(
            "back-off is as good, within a point",
            f"{max(reached):.4f}",
            f"{reached[0]:.4f}",
            reached[0] >= max(reached) - 0.01,
        ),
        Verdict("class attacker above the best", "0.039", f"{above:.4f}", abs(above - 0.039) <= 0.006),
        Verdict(
            "back-off announces what is realized", "3 points", rows[0][3], abs(float(rows[0][3]) - reached[0]) <= 0.03
        ),
    )
    head = ("attack", "members", "control", "announced of control", "CPU s")
    return Section("Who learns from Mondrian's k = 10, Adult", head, tuple(rows), verdicts=verdicts)


# --- 3: CTGAN --------------------------------------------------------------------------------------------------------


def generated() -> Section:
    """The learner before and after it is told the population's shares, beside the class attacker."""
    release, everybody, inside = ctgan()
    release, everybody = (_five(one) for one in (release, everybody))
    members = everybody.take(inside)
    asked = replace(everybody, sensitive=())
    rows, found, announced, loss = [], {}, {}, {}
    truth_of = lambda belief: attribute_truth(everybody, np.arange(everybody.n_rows), belief, "occupation")  # noqa: E731
    for name, attack, told in (
        ("class attacker", AttributeInference("occupation"), Background(asked, members)),
        ("learner, release alone", BackOff("occupation"), Background(asked)),
        ("learner", BackOff("occupation"), Background(asked, members)),
    ):
        belief = attack(release, told)
        found[name] = side(belief, everybody, inside)
        announced[name] = float(success_probability.per_target(belief).mean())
        loss[name] = float(np.mean(log_loss_bits.per_target(belief, truth_of(belief))))
        one = found[name]
        rows.append(_shown(name, announced[name], one, loss[name]))
    learner = found["learner"]
    assert learner.low is not None
    assert learner.high is not None
    off = announced["learner"] - learner.members
    within = learner.low <= 0 <= learner.high
    people = list(zip(*(everybody[name] for name in (*CTGAN, "occupation")), strict=True))
    shown = list(zip(*(release[name] for name in (*CTGAN, "occupation")), strict=True))
    unique, once = (Counter(one[:-1] for one in side) for side in (people, shown))
    values: dict[tuple[str, ...], set[str]] = {}
    for *key, value in shown:
        values.setdefault(tuple(key), set()).add(value)
    repeated = sum(unique[one[:-1]] == 1 == once[one[:-1]] for one in people) / len(people)
    told_right = sum(values.get(one[:-1]) == {one[-1]} for one in people) / len(people)
    rep_u = criteria.replicated_uniques(release, everybody)
    disco = criteria.correctly_disclosed(release, everybody, "occupation")
    verdicts = (
        Verdict("announced is realized", "3 points", f"{100 * off:.1f}", abs(off) <= 0.03),
        Verdict("members are known no better", "0 in the interval", f"{learner.low:.4f} to {learner.high:.4f}", within),
        Verdict("log loss is finite, below the prior's", "3.52", f"{loss['learner']:.2f}", loss["learner"] < 3.52),
        Verdict("accuracy of the prototype", "0.2443", f"{learner.members:.4f}", learner.members >= 0.2443),
        Verdict("repU, person by person", f"{repeated:.6f}", f"{rep_u:.6f}", abs(rep_u - repeated) < 1e-12),
        Verdict("DiSCO, person by person", f"{told_right:.6f}", f"{disco:.6f}", abs(disco - told_right) < 1e-12),
    )
    told, of_told = _told(release, everybody, inside)
    head = ("attacker", "announced", "members", "control", "excess", "log loss, bits")
    title = "Occupation through a CTGAN release of Adult"
    return Section(title, head, (*rows, told), verdicts=(*verdicts, *of_told))


def _shown(name: str, announced: float, found: Excess, loss: float) -> tuple[str, ...]:
    shown = (announced, found.members, found.control, found.excess)
    return (name, *(f"{x:.4f}" for x in shown), f"{loss:.3f}")


class Told(NamedTuple):
    """Members, told by control people, and with what they are not told: beliefs, and the members' values."""

    before: Posterior
    after: Posterior
    truth: Truth
    found: Excess

    @property
    def announced(self) -> NDArray[np.float64]:
        """(n_members,)"""
        return success_probability.per_target(self.after)

    @property
    def losses(self) -> tuple[float, float]:
        """In bits, not told and told."""
        return tuple(float(log_loss_bits.per_target(one, self.truth).mean()) for one in (self.before, self.after))  # type: ignore[return-value]


def _told_of(release: Table, everybody: Table, inside: Inside) -> Told:
    sides, secret = (everybody.take(inside), everybody.take(~inside)), release.sensitive[0].name
    attack = BackOff(secret).tuned(release, Background(sides[0], sides[0]))
    beliefs = [attack(release, Background(replace(one, sensitive=()), sides[0])) for one in sides]
    truths = [attribute_truth(one, np.arange(one.n_rows), beliefs[0], secret) for one in sides]
    told = calibrate_by_control(*beliefs, truths[1])
    each = [People.of(realized_success, *one) for one in zip(told, truths, strict=True)]
    return Told(beliefs[0], told[0], truths[0], excess(realized_success, *each))


def _told(release: Table, everybody: Table, inside: Inside) -> tuple[tuple[str, ...], tuple[Verdict, ...]]:
    """The learner whom control people told: what is announced of members, in all and tenth by tenth."""
    told = _told_of(release, everybody, inside)
    found, (status, why), loss = told.found, check_status(told.after, told.truth), told.losses[1]
    announced, off = float(told.announced.mean()), float(told.announced.mean()) - found.members
    assert found.low is not None
    assert found.high is not None
    verdicts = (
        Verdict("told by control people: announced is realized", "3 points", f"{100 * off:.1f}", abs(off) <= 0.03),
        Verdict("told by control people: what it earned", "calibrated", f"{status}; {why}", status == "calibrated"),
        *_tenths(told.announced, realized_success.per_target(told.after, told.truth)),
        Verdict("told by control people: log loss is less", "3.259", f"{loss:.3f}", loss < told.losses[0]),
        Verdict(
            "told by control people: members are known no better",
            "0 in the interval",
            f"{found.low:.4f} to {found.high:.4f}",
            found.low <= 0 <= found.high,
        ),
    )
    return _shown("learner, told by control people", announced, found, loss), verdicts


def _tenths(announced: NDArray[np.float64], realized: NDArray[np.float64]) -> Iterator[Verdict]:
    """Tenths of announced success with at least 50 people: 3 points, or within chance (3.3 standard errors)."""
    tenth = np.minimum((10 * announced).astype(int), 9)
    for at in np.flatnonzero(np.bincount(tenth) >= 50):
        mean, right = float(announced[tenth == at].mean()), realized[tenth == at]
        holds = abs(mean - right.mean()) <= max(0.03, 3.3 * np.sqrt(mean * (1 - mean) / len(right)))
        claim = f"told by control people: {len(right):,} people they are {10 * at} to {10 * at + 10} % sure of"
        yield Verdict(claim, f"{mean:.3f}", f"{right.mean():.3f}", bool(holds))


def _five(table: Table, secret: str = "occupation", names: Sequence[str] = CTGAN) -> Table:
    known = tuple(table.column(name) for name in names)
    return replace(table, quasi_identifiers=known, sensitive=(table.column(secret),))


# --- 4: control people who are unlike --------------------------------------------------------------------------------

UNLIKE = {
    "as drawn": (0.497, 0.0731, 0.0733),
    "graduates six times likelier": (0.651, 0.0267, 0.0656),
    "women six times likelier": (None, 0.0516, 0.0644),
    "under 30 six times likelier": (None, 0.0752, 0.0681),
}
"""How 5,000 control people are drawn -> AUC, excess as it is and weighted; those in no box by the margin."""


def unlike() -> Section:
    """Weights bring the excess back to that of control people who are alike."""
    table, inside = people("Adult")
    release, told = released("Adult", 10), known("Adult")
    link = ClassAttack()(release, told)
    belief = AttributeInference("occupation").through(link, release, told)
    whole = side(belief, table, inside, cluster_targets(link)).excess
    others, rng = np.flatnonzero(~inside), np.random.default_rng(0)
    odd = {
        "graduates": table["education-num"].astype(int) >= 13,
        "women": table["sex"] == "Female",
        "under": table["age"].astype(int) < 30,
    }
    rows, verdicts = [], []
    for name, (auc, _, _) in UNLIKE.items():
        likelier = odd.get(name.partition(" ")[0], np.zeros(table.n_rows, dtype=np.bool_))[others]
        weight = np.where(likelier, 6.0, 1.0)
        drawn = rng.choice(others, 5000, replace=False, p=weight / weight.sum())
        found = measure_shift(table.take(inside), table.take(drawn))
        raw, weighed = (_excess(belief, table, inside, drawn, w) for w in (np.ones(5000), found.weight))
        ends = f"{found.interval.low:.3f} to {found.interval.high:.3f}"
        rows.append((name, f"{found.auc:.3f}", ends, f"{raw:.4f}", f"{weighed:.4f}", f"{found.effective:,.0f}"))
        if auc is not None:
            verdicts.append(Verdict(f"{name}: AUC", f"{auc}", f"{found.auc:.3f}", abs(found.auc - auc) <= 0.015))
        off = abs(weighed - whole)
        verdicts.append(Verdict(f"{name}: weighted", f"{whole:.4f} +- 0.02", f"{weighed:.4f}", off <= 0.02))
        verdicts.append(
            Verdict(f"{name}: seen", str(auc != 0.497), str(not found.is_similar), found.is_similar == (auc == 0.497))
        )
    head = ("control people", "AUC", "interval", "excess", "weighted", "effective")
    return Section(
        f"Control people unlike members; all of them: {whole:.4f}", head, tuple(rows), verdicts=tuple(verdicts)
    )


def _excess(
    belief: Posterior, table: Table, inside: Inside, drawn: NDArray[np.int64], weight: NDArray[np.float64]
) -> float:
    truth = attribute_truth(table, np.arange(table.n_rows), belief, "occupation")
    value = realized_success.per_target(belief, truth)
    return float(value[inside].mean() - np.average(value[drawn], weights=weight))


# --- 5: other releases -----------------------------------------------------------------------------------------------


def _others() -> Iterator[tuple[str, Table, Table, Inside]]:
    """Other secrets of the CTGAN release, and NIST's people through generators: release, everybody, who is a member."""
    release, everybody, inside = ctgan()
    work = ("age", "education_num", "race", "sex", "occupation")
    for secret, names in (("income", CTGAN), ("type_employer", work), ("marital", (*work[:4], "relationship"))):
        yield f"CTGAN, {secret}", _five(release, secret, names), _five(everybody, secret, names), inside
    with gzip.open(datasets.locate("nist/national2019.csv.gz"), "rt") as lines:
        rows = list(csv.DictReader(lines))
    columns = (*NIST, "INDP_CAT", "PINCP_DECILE")
    types = {name: "number" if name == "AGEP" else "text" for name in columns}
    people = Table.read(
        {name: [row[name] for row in rows] for name in columns}, quasi_identifiers=columns, types=types, na=()
    )
    inside = np.random.default_rng(0).permutation(people.n_rows) % 3 > 0
    for generator in (Trees(5), ChowLiu(), ChowLiu(1.0), Independent()):
        made, _ = generator(people.take(inside), rng=np.random.default_rng(0))
        for secret in columns[-2:]:
            yield f"NIST, {generator}, {secret}", _five(made, secret, NIST), _five(people, secret, NIST), inside


def others() -> Section:
    """The learner told by control people on releases by other generators, and about other secrets."""
    rows, verdicts = [], []
    for name, *scene in _others():
        told = _told_of(*scene)
        status, _ = check_status(told.after, told.truth)
        announced, (before, after) = float(told.announced.mean()), told.losses
        off = announced - told.found.members
        shown = (announced, told.found.members, told.found.control, before, after)
        rows.append((name, *(f"{x:.3f}" for x in shown), check_status(told.before, told.truth)[0], status))
        verdicts += [
            Verdict(f"{name}: announced is realized", "3 points", f"{100 * off:.1f}", abs(off) <= 0.03),
            Verdict(f"{name}: log loss is no more", f"{before:.3f}", f"{after:.3f}", after <= before + 1e-3),
            Verdict(f"{name}: not refuted", "not", status, status != "refuted", required=False),
        ]
    head = ("release", "announced", "members", "control", "log loss", "told", "status", "told")
    return Section("Other secrets and releases", head, tuple(rows), verdicts=tuple(verdicts))


PARTS = (boxes, best, generated, unlike, others)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=int, choices=range(1, 6), action="append", help="only this part; repeatable")
    sys.exit(run(PARTS[number - 1] for number in sorted(set(parser.parse_args().part or range(1, 6)))))
