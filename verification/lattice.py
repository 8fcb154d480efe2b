"""The lattice of Adult, and the publisher's game over it: `UNMASK_DATA=... python verification/lattice.py`.

The search against enumeration of all 12,960 nodes; the optimum of a game against what its release does to the people
behind it; one kind of attacker and twenty, with the CPU time they took; ARX's payout model over every node.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from show import Section, Verdict, run

from unmask.economics import (
    Attacker,
    Expected,
    Move,
    Protected,
    Publisher,
    PublisherGame,
    Terms,
    play_out,
    read_attacker,
)
from unmask.economics.exploitation import VALUE, Alike
from unmask.economics.groups import candidates_tried, chance_inside
from unmask.economics.many import ManyReleases
from unmask.economics.prices import sunk_plans
from unmask.economics.releases import Releases, unfined
from unmask.economics.response import Raid
from unmask.measures.success import standing
from unmask.studies.game import play
from unmask.tables import Background, ClassAttack, Lattice, Table, datasets
from unmask.tables.optimum import Asked
from unmask.truth import Truth

DRAWS = 40
"""Campaigns that are played with dice against the truth."""

SOLVED = 50
"""Moves that are solved against twenty kinds of attackers, should the bounds of all not decide."""

GOAL_ONE, GOAL_TWENTY = 60.0, 600.0
"""CPU seconds of a game over all nodes against one kind of attacker, and against twenty."""


@cache
def adult() -> Table:
    """All nine columns with hierarchies are quasi-identifiers."""
    trees = datasets.adult_hierarchies()
    return datasets.adult_cut(quasi_identifiers=tuple(trees), sensitive=(), hierarchies=trees)


@cache
def every_node() -> tuple[np.ndarray, np.ndarray, Releases]:
    """Levels, utility and classes of all nodes, no row dropped."""
    asked = Asked.of(Lattice(k=1), adult())
    lost = asked.nodes.least_lost(asked.weights)
    levels, groups = [], []
    for node, found in asked.nodes.walk():
        size, count = np.unique(found.sizes, return_counts=True)
        levels.append(node)
        groups.append((size, np.ones(len(size)), size * count))
    return np.array(levels), 1.0 - lost[tuple(np.array(levels).T)], Releases.of(groups)


# --- the protection ---------------------------------------------------------------------------------------------------


def search() -> Section:
    """The choice of the pruned search, and the least loss of all nodes."""
    rows, verdicts = [], []
    for protection in (
        Lattice(k=5), Lattice(k=5, suppression=0.05), Lattice(k=20, suppression=0.01),
        Lattice(k=1, average_risk=0.02), Lattice(k=2, average_risk=0.02, suppression=0.02),
        Lattice(k=10, loss="discernibility"),
    ):  # fmt: skip
        start = time.process_time()
        found = protection.choose(adult())
        seconds, least = time.process_time() - start, _least(protection)
        rows.append((repr(protection), f"{found.loss:.6g}", f"{found.seen:,}", f"{seconds:.2f}"))
        same = abs(found.loss - least) <= 1e-9 * least
        verdicts.append(Verdict(f"{protection!r}: least loss", f"{least:.6g}", f"{found.loss:.6g}", same))
    head = ("protection", "loss", f"counted of {len(every_node()[0]):,}", "CPU s")
    return Section("Search: the least loss of all nodes of Adult", head, tuple(rows), (), tuple(verdicts))


def _least(protection: Lattice) -> float:
    """The least loss of the nodes that satisfy a protection, all of them counted."""
    asked = Asked.of(protection, adult())
    lost, best, n = asked.nodes.least_lost(asked.weights), np.inf, adult().n_rows
    for node, found in asked.nodes.walk():
        bad = asked.violating(found)
        if asked.allowed(found, bad):
            squares = float(found.sizes[~bad] @ found.sizes[~bad]) + n * float(found.sizes[bad].sum())
            penalty = float(lost[node]) + asked.added(node, found, bad)
            best = min(best, penalty if protection.loss == "gcp" else squares)
    return best


# --- the game ---------------------------------------------------------------------------------------------------------

DOCUMENT = """
title = "Adult"
[data]
file = "{folder}/adult_complete_rows.csv.gz"
hierarchies = {{ {trees} }}
[columns]
{columns}
[[protections]]
use = "tables.Lattice"
with = {{ k = 1 }}
[[adversaries]]
name = "insider"
use = "tables.ClassAttack"
knows = {{ targets = 30162 }}
[publisher]
benefit = {benefit}
loss = 500
fines = {fines}
{attackers}
"""

ONE = """
[[attackers]]
name = "broker"
gain = 400
access_cost = 1000
exploit_cost = 10
fine = 10_000
max_fines = {cap}
detection = 0.01
"""


def _played(fines: str, attackers: str, benefit: float = 2e6) -> tuple[Any, float]:
    """A document's game, and the CPU seconds that it took."""
    folder = Path(datasets.locate("adult/adult_complete_rows.csv.gz")).parent
    names = [column.name for column in adult().quasi_identifiers]
    trees = ", ".join(f'{name} = "{folder}/hierarchies/{name}.csv"' for name in names)
    columns = "\n".join(f'{name} = "quasi-identifier"' for name in names)
    with tempfile.TemporaryDirectory() as at:
        path = Path(at) / "unmask.toml"
        text = DOCUMENT.format(
            folder=folder, trees=trees, columns=columns, benefit=benefit, fines=fines, attackers=attackers
        )
        path.write_text(text, encoding="utf-8")
        start = time.process_time()
        return play(path), time.process_time() - start


def one_kind() -> Section:
    """One kind of attacker: the optimum over all nodes, against the game on releases that are really made."""
    rows, verdicts = [], []
    for cap, fines in (('"unlimited"', "[0]"), ("1", "[0, 1_000_000]")):
        found, seconds = _played(fines, ONE.format(cap=cap))
        (lattice,), taken, text = found.lattices, found.offers[0], f"fines at most {cap}"
        left, best = taken.payoff[0], max(lattice.low)
        told = (taken.protection, f"{taken.utility:.3f}", f"{taken.fine:,.0f}", f"{left:,.0f}")
        rows.append((cap, *told, str(lattice.solved), f"{seconds:.0f}"))
        same, decided = left >= best - 1e-6 * abs(best), lattice.undecided == 0
        verdicts += [
            Verdict(f"{text}: CPU seconds", f"{GOAL_ONE:.0f}", f"{seconds:.0f}", seconds <= GOAL_ONE),
            Verdict(f"{text}: the node is worth what its release is", f"{best:,.2f}", f"{left:,.2f}", same),
            Verdict(f"{text}: moves left undecided", "0", str(lattice.undecided), decided),
        ]
        if cap != "1":  # without a cap every target is a game of its own, which is played out
            verdicts.append(_against_the_truth(text, lattice.levels[taken.protection], taken.answers[0]))
    head = ("fines at most", "taken", "utility", "fine", "left to the publisher", "solved", "CPU s")
    return Section("The game over 12,960 nodes, one kind of attacker", head, tuple(rows), (), tuple(verdicts))


def _against_the_truth(text: str, levels: dict[str, Any], answer: Any) -> Verdict:
    """The release is made again, attacked, and the attacker's plan played against the people behind its records."""
    release, origin = Lattice(k=1, levels=levels)(adult(), rng=np.random.default_rng(1))
    belief = ClassAttack()(release, Background(adult()))
    place = standing(belief, _truth(origin))
    broker = Attacker(gain=400, exploit_cost=10, fine=10_000, max_fines=math.inf, detection=(0.01,))
    realized = float(play_out(broker, belief, place.better, place.tied).sum()) if answer.attacks else 0.0
    announced = answer.re_identified[0]
    near = abs(realized - announced) <= 1e-6 * max(announced, 1.0)
    return Verdict(f"{text}: people re-identified", f"{announced:,.2f} announced", f"{realized:,.2f} in truth", near)


def _truth(origin: np.ndarray) -> Truth:
    """The record of each person, where each is in the release."""
    place = np.empty(len(origin), dtype=np.int64)
    place[origin] = np.arange(len(origin))
    return Truth(place)


# --- many kinds -------------------------------------------------------------------------------------------------------


def twenty_kinds() -> Section:
    """Twenty kinds of attackers: the best move, how much better another one may be, and its release made again."""
    rng, case = np.random.default_rng(0), read_attacker("case-study")
    kinds = {f"kind {i}": Expected(_drawn(rng, case), float(rng.uniform(0.2, 2))) for i in range(20)}
    rows, verdicts = [], []
    for benefit in (1e8, 3e7):
        start = time.process_time()
        every_node.cache_clear()
        levels, utility, releases = every_node()
        terms = [Terms(), Terms(fine=1e6), Terms(fine=1e8)]
        publisher = Publisher(benefit=benefit, loss=500.0)
        game = ManyReleases(
            publisher, kinds, dict.fromkeys(kinds, releases), utility, levels, np.ones(len(utility), dtype=bool), terms
        )  # fmt: skip
        best = game.best(SOLVED)
        seconds, short, text = time.process_time() - start, game.short(), f"benefit {benefit:,.0f}"
        low, high = game.payoffs(best[1])[:, best[0]] if best else (0.0, 0.0)
        told = "no release" if best is None else f"utility {utility[best[0]]:.3f}, fine {best[1].fine:,.0f}"
        left = f"{low:,.0f} to {high:,.0f}"
        rows.append((f"{benefit:,.0f}", told, left, f"{short:,.0f}", str(game.solved), f"{seconds:.0f}"))
        verdicts += [
            Verdict(f"{text}: CPU seconds", f"{GOAL_TWENTY:.0f}", f"{seconds:.0f}", seconds <= GOAL_TWENTY),
            Verdict(f"{text}: others are better by", "at most .1 % of it", f"{short:,.0f}", short <= 1e-3 * benefit),
        ]
        if best is not None:
            found = _made_again(publisher, kinds, levels[best[0]], float(utility[best[0]]), best[1])
            inside = low - 1e-6 * abs(low) <= found.payoff.low and found.payoff.high <= high + 1e-6 * abs(high)
            there = f"{found.payoff.low:,.0f} to {found.payoff.high:,.0f}"
            verdicts.append(Verdict(f"{text}: its release, made and attacked", left, there, inside))
            verdicts += _played_out(text, levels[best[0]], kinds, best[1], found)
    head = ("benefit", "best move", "left to the publisher", "others more by", "solved", "CPU s")
    return Section("Twenty kinds of attackers, three fines, all nodes", head, tuple(rows), (), tuple(verdicts))


def _made_again(
    publisher: Publisher, kinds: Mapping[str, Expected], node: np.ndarray, utility: float, terms: Terms
) -> Move:
    """A node's release is made and attacked, and the game played on what that attack believes, record by record."""
    release, _ = Lattice(k=1, levels=_levels(node))(adult(), rng=np.random.default_rng(1))
    belief = ClassAttack()(release, Background(adult()))
    game = PublisherGame(publisher, {"made": Protected(belief, utility)}, kinds)
    return game.move("made", terms)


def _played_out(
    text: str, node: np.ndarray, kinds: Mapping[str, Expected], terms: Terms, move: Move
) -> Iterator[Verdict]:
    """The campaigns of those who attack, with dice, against the people behind the records of the release.

    Every person is looked for among the records that the attack believes in, from a random one on. Who plans otherwise
    than to try all that pays without fines is held against the truth by the plan's own probabilities.
    """
    release, origin = Lattice(k=1, levels=_levels(node))(adult(), rng=np.random.default_rng(1))
    belief, truth = ClassAttack()(release, Background(adult())).one_by_one(), _truth(origin)
    place = standing(belief, truth)
    size = candidates_tried(belief)[belief.observation]
    among = (place.better == 0) & (place.tied == size)  # the record of each person is one of those believed in
    yield Verdict(
        f"{text}: people among their candidates", f"{len(size):,}", f"{int(among.sum()):,}", bool(among.all())
    )
    rng = np.random.default_rng(2)
    attacking = [kind for kind, response in move.responses.items() if response.attacks]
    for kind in attacking:
        attacker = kinds[kind].attacker
        faced = replace(attacker, fine=attacker.fine + terms.fine, audit_rate=attacker.audit_rate * terms.audit)
        raid = Raid.of(faced, belief)
        worth, named = raid.worth, raid.re_identified
        draws = [_dice(raid.attacker, belief, truth, rng) for _ in range(DRAWS)]
        (left, found), (off, spread) = np.mean(draws, axis=0), np.std(draws, axis=0, ddof=1) / math.sqrt(DRAWS)
        near = all(
            low - by <= value <= high + by
            for (low, high), value, by in (
                (worth, left, 4 * off + 1e-6 * abs(left)), (named, found, 4 * spread + 1e-6 * found)
            )
        )  # fmt: skip
        said = f"{worth.low:,.0f} to {worth.high:,.0f}, {named.low:,.0f} to {named.high:,.0f} people"
        yield Verdict(f"{text}: {kind} with dice", said, f"{left:,.0f} +- {off:,.0f}, {found:,.0f} people", near)
    yield Verdict(
        f"{text}: kinds who attack",
        "none is undecided",
        str(len(attacking)),
        all(one.attacks is not None for one in move.responses.values()),
    )


def _dice(attacker: Attacker, belief: Any, truth: Truth, rng: np.random.Generator) -> tuple[float, float]:
    """What an attacker is left with who tries all that pays without fines, and the people re-identified, once."""
    row, size = belief.observation, candidates_tried(belief)
    free = sunk_plans(unfined(attacker), Alike(size, chance_inside(belief)))
    most = np.where(free[VALUE] > 0, np.minimum(size, attacker.max_tries or size), 0)[row]
    entry = np.array([
        np.searchsorted(belief.candidate[belief.indptr[r] : belief.indptr[r + 1]], own)
        for r, own in zip(row, truth.candidate, strict=True)
    ])  # fmt: skip
    before = (entry - rng.integers(0, size[row])) % size[row]
    named, tries = before < most, np.minimum(before + 1, most)
    q = attacker.detection_at(int(tries.max(initial=1)))
    made = np.bincount(tries, minlength=len(q) + 1)[::-1].cumsum()[::-1][1:]  # people of whom a try j is made
    fines = min(int(rng.binomial(made, q[: len(made)]).sum()), attacker.max_fines)
    paid = attacker.exploit_cost * tries.sum() + attacker.link_cost * (most > 0).sum() + attacker.fine * fines
    return float(attacker.gain * named.sum() - paid), float(named.sum())


def _levels(node: np.ndarray) -> dict[str, list[Any]]:
    """Column -> its level at a node."""
    at = Asked.of(Lattice(k=1), adult()).levels(tuple(int(level) for level in node))
    return {name: [level] for name, level in at.items()}


def _drawn(rng: np.random.Generator, case: Attacker) -> Attacker:
    return replace(
        case, gain=rng.uniform(500, 10_000), exploit_cost=rng.uniform(0, 30), fine=rng.uniform(5e3, 1e6),
        max_fines=int(rng.integers(1, 5)), detection_growth=float(rng.choice([0, 0.01, 0.18])),
        detection_base=rng.uniform(-7, -3), access_cost=rng.uniform(0, 5000),
    )  # fmt: skip


# --- ARX --------------------------------------------------------------------------------------------------------------


def arx() -> Section:
    """ARX's payout over every node: benefit (1 - loss of information) - [gain / n > cost] loss / n for each record."""
    benefit, loss, gain, cost = 1200.0, 300.0, 300.0, 4.0
    levels, utility, releases = every_node()
    n, size = adult().n_rows, releases.games.size
    direct = n * benefit * utility - releases.summed((gain / size > cost) * loss / size)
    once = Attacker(gain=gain, exploit_cost=cost, max_fines=0, max_tries=1)
    game = ManyReleases(
        Publisher(benefit=n * benefit, loss=loss), {"once": Expected(once)}, {"once": releases}, utility, levels,
        np.ones(len(utility), dtype=bool), [Terms()],
    )  # fmt: skip
    found = game.payoffs(Terms())
    off = float(np.abs(found - direct).max() / np.abs(direct).max())
    place = game.best()
    assert place is not None
    rows = ((str(len(levels)), f"{direct.max():,.2f}", f"{found[0, place[0]]:,.2f}", f"{off:.1e}"),)
    verdicts = (
        Verdict("payoff of every node", "ARX's formula", f"off by {off:.1e}", off <= 1e-9),
        Verdict(
            "the best node",
            f"{direct.max():,.2f}",
            f"{found[0, place[0]]:,.2f}",
            np.isclose(direct.max(), found[0, place[0]], rtol=1e-9),
        ),
    )
    return Section(
        "ARX's payout model over the lattice", ("nodes", "best by formula", "best found", "off"), rows, (), verdicts
    )


PARTS: Mapping[str, Callable[[], Section]] = {
    "search": search,
    "arx": arx,
    "one": one_kind,
    "twenty": twenty_kinds,
}


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS)
    given = parser.parse_args()
    return run([PARTS[given.part]] if given.part else list(PARTS.values()))


if __name__ == "__main__":
    sys.exit(main())
