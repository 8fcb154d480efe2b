"""Requirements on synthetic releases and control groups (table A8), compared with Anonymeter.

    UNMASK_DATA=... python verification/synthetic.py [--part 1|2|3|4|5|6|7]

1. The CTGAN release of Adult, and Mondrian's boxes: members beside control people, by `unmask.audit`.
2. Membership in releases of 1,000 people by four generators: means over six draws.
3. The original as its own release, of control people who are themselves members: no exception.
4. What it costs to ask.
5-7. Singling out, linkability and inference of Anonymeter's example data beside Anonymeter 1.1.0 (`wp216.py`).

A score that many people share has no threshold with one false alarm in a hundred. "At 1 %" is here the most members
that a threshold recognizes with *at most* 1 % of the others, all equals or none: what the prototype reckoned, and what
an adversary reaches who tosses no coin. With a coin for the equals the row of the trees would turn round, and the
program says so: by it the Hamming distance, of which 2 % of the others have 0, recognizes more than margins.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

import numpy as np
from control_people import CTGAN, adult, ctgan
from learned import people as boxed
from membership import SCORES, SEEDS, _scored, scene
from show import Section, Verdict, run
from synthesizers import Bootstrap, Independent, Trees
from wp216 import inferred, linked, singled

import unmask
from unmask.results import Result, Row
from unmask.tables import MarginalRatio, Mondrian, Table


def section(title: str, verdicts: list[Verdict], notes: tuple[str, ...] = ()) -> Section:
    """A section of verdicts, which are its rows."""
    return Section(title, ("verdicts",), ((f"{len(verdicts)}",),), notes, tuple(verdicts))


def near(claim: str, asked: float, within: float, found: float) -> Verdict:
    """A number of the table and its tolerance."""
    return Verdict(claim, f"{asked:g} +- {within:g}", f"{found:.4f}", abs(found - asked) <= within)


# --- 1 ---------------------------------------------------------------------------------------------------------------


def audits() -> Section:
    """Both releases as an audit sees them."""
    release, everybody, inside = ctgan()
    secret, known = everybody.column("occupation"), tuple(map(everybody.column, CTGAN))
    people = replace(everybody, quasi_identifiers=known, sensitive=(secret,), kept=())
    shown = replace(
        release, quasi_identifiers=tuple(map(release.column, CTGAN)), sensitive=(release.column("occupation"),)
    )
    rows = _rows(unmask.audit(shown, original=people.take(inside), control=people.take(~inside), synthetic=True))
    learner = rows["learner", "occupation", "realized_success"]
    off, loss = (rows["learner", "occupation", one].posterior for one in ("calibration_error", "log_loss_bits"))
    nobody = not any(target == "identity" for _, target, _ in rows)
    apart = f"{learner.excess_low:+.4f} to {learner.excess_high:+.4f}"
    alike = learner.excess_low <= 0 <= learner.excess_high
    note = (
        "0.2443 and 0.2452 of the prototype are of another learner; here they are "
        f"{learner.posterior:.4f} and {learner.control:.4f}."
    )
    return section("Audits with control people", [
        Verdict("CTGAN: no row about identity", "none", "none" if nobody else "some", nobody),
        Verdict("CTGAN: occupation of members and control people", "0 in the interval", apart, alike),
        Verdict("CTGAN: calibration error of occupation", "0.03", f"{off:.4f}", off <= 0.03),
        Verdict("CTGAN: log loss, bits", "finite", f"{loss:.3f}", bool(np.isfinite(loss))),
        *_boxes(),
    ], (note,))  # fmt: skip


def _rows(found: Result) -> dict[tuple[str, str, str], Row]:
    return {(row.adversary, row.target, row.measure): row for row in found.rows if row.release == "release"}


def _boxes() -> list[Verdict]:
    people, inside = boxed("Adult")
    members = people.take(inside)
    release, origin = Mondrian(k=10)(members, rng=np.random.default_rng(0))
    found = unmask.audit(release, original=members, origin=origin, control=people.take(~inside))
    row = _rows(found)["prosecutor", "occupation", "realized_success"]
    assert row.control is not None
    assert row.excess is not None
    assert row.baseline is not None
    return [
        near("Mondrian k = 10: members", 0.351, 0.001, row.posterior),
        near("Mondrian k = 10: control people, 0.283 by the margin, 0.287 by a model", 0.285, 0.003, row.control),
        near("Mondrian k = 10: excess", 0.069, 0.01, row.excess),
        near("Mondrian k = 10: above the best on control people", 0.039, 0.006, row.posterior - row.baseline),
    ]


# --- 2 ---------------------------------------------------------------------------------------------------------------


def membership() -> Section:
    """AUC, and members recognized at 1 %."""
    found = {one: _mean(one) for one in (Bootstrap(), Trees(5), Trees(20), Independent())}
    margins, gower, hamming, joined = SCORES
    copies, trees = found[Bootstrap()], found[Trees(5)]
    verdicts = [
        Verdict("bootstrap: AUC of closest records", "0.80", f"{copies[gower][0]:.3f}", copies[gower][0] >= 0.8),
        Verdict("bootstrap: at 1 %", "0.60", f"{copies[gower][1]:.3f}", copies[gower][1] >= 0.6),
        near("bootstrap: AUC of margins", 0.70, 0.03, copies[margins][0]),
        near("trees of 5: AUC of margins", 0.65, 0.03, trees[margins][0]),
        _more("trees of 5: at 1 %, margins and closest", "0.028 > 0.000", trees[margins][2], trees[hamming][2]),
        _more("the same with a coin for equals", "yes", trees[margins][1], trees[hamming][1], required=False),
        _more("trees of 5: AUC, joined and the better of both", "yes", trees[joined][0], trees[margins][0]),
        Verdict("trees of 5: median closest distance", "2 = 2", "{:g} = {:g}".format(*trees["distance"]),
                trees["distance"][0] == trees["distance"][1]),
        near("trees of 20: AUC of margins", 0.605, 0.03, found[Trees(20)][margins][0]),
        near("independent columns: AUC of margins", 0.55, 0.03, found[Independent()][margins][0]),
    ]  # fmt: skip
    return section("Who is in a release of 1,000 people of Adult?", verdicts)


def _mean(generator: object) -> dict[str, np.ndarray]:
    each = [_scored(generator, seed) for seed in range(SEEDS)]
    return {name: np.mean([one[name] for one in each], axis=0) for name in each[0]}


def _more(claim: str, asked: str, one: float, other: float, *, required: bool = True) -> Verdict:
    return Verdict(claim, asked, f"{one:.3f} > {other:.3f}", one > other, required=required)


# --- 3 and 4 ---------------------------------------------------------------------------------------------------------


def itself() -> Section:
    """The original is released as it is; then control people are people of the release."""
    columns, n = adult()
    people = Table.read(columns, quasi_identifiers=tuple(columns), na=())
    members, control = people.take(slice(0, 4000)), people.take(slice(n, None))
    of_others, of_itself = (
        _rows(unmask.audit(members, original=members, origin=np.arange(4000), control=one, targets=1000))
        for one in (control, members)
    )
    asked = ("prosecutor", "membership", "membership_auc")
    found = of_others[asked].posterior
    same = of_itself.get(asked)
    told = "every record has its equal among the others" if same is None else f"{same.posterior:.3f}"
    return section("The original as its release", [
        Verdict("no exception, whoever the control people are", "none", "none", holds=True),
        Verdict("control people who are the members: AUC, or nobody is left to judge", "0.5", told,
                same is None or abs(same.posterior - 0.5) < 0.03),
        Verdict("other control people: AUC", "1", f"{found:.4f}", found > 0.999),
    ])  # fmt: skip


def cost() -> Section:
    """The margins of 2,000 people against 21,000 rows."""
    release, known, _ = scene(Trees(5), 0)
    start = time.process_time()
    MarginalRatio()(release, known)
    spent = time.process_time() - start
    return section("What it costs", [
        Verdict("CPU seconds: 1,000 + 1,000 targets, 21,000 rows, 377 sets", "0.5", f"{spent:.2f}", spent <= 0.5)
    ])  # fmt: skip


PARTS = (audits, membership, itself, cost, singled, linked, inferred)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=int, choices=range(1, 8), action="append", help="only this part; repeatable")
    sys.exit(run(PARTS[number - 1] for number in sorted(set(parser.parse_args().part or range(1, 8)))))
