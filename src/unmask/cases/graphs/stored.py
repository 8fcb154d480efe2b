"""The audit of networks that stay in an engine: rows and facts as of one in memory, from counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from unmask.cases.graphs.cautions import overlooked
from unmask.cases.graphs.report import report
from unmask.cases.graphs.written import STANDARD
from unmask.core.errors import UnmaskError
from unmask.data.engine import Engine
from unmask.graphs import KorulaLattanzi, Nar09, Rematch
from unmask.graphs.evaluation import Rates
from unmask.graphs.stored import Checkpoint, Found, Mapped, Network, attack, evaluate, load, read_seeds, read_truth
from unmask.measures import Measure
from unmask.measures.rates import (
    SPREADS,
    coverage,
    false_positives,
    named_wrongly,
    of_counts,
    precision,
    recall,
    spread,
)
from unmask.reports import ReportData
from unmask.reports.facts.graph import DegreeRisk, StructureAttack
from unmask.results import Row

IN_ENGINE = ("Nar09", "KorulaLattanzi", "Rematch")
"""Attacks that are joins and counts."""

Adversary = Nar09 | KorulaLattanzi | Rematch


@dataclass(frozen=True, eq=False)
class Stored:
    """Networks in an engine, which holds seeds and truth as tables of these names.

    common : people in both by the truth, None where there is none
    """

    auxiliary: Network
    released: Network
    n_seeds: int
    common: int | None

    @classmethod
    def load(
        cls, engine: Engine, release: str, auxiliary: str, seeds: str, truth: str | None, ends: tuple[str, str] | None
    ) -> Stored:
        """Take in two networks, the list of seeds, and the truth if there is one; see `graphs.stored`."""
        networks = (
            load(engine, auxiliary, name="auxiliary", ends=ends),
            load(engine, release, name="released", ends=ends),
        )
        n_seeds = read_seeds(*networks, seeds)
        return cls(*networks, n_seeds, None if truth is None else read_truth(*networks, truth))

    @property
    def networks(self) -> tuple[Network, Network]:
        """The adversary's, and the released one."""
        return self.auxiliary, self.released


def audit_stored(
    stored: Stored,
    adversaries: Mapping[str, Adversary],
    *,
    release: str,
    title: str = "Audit of a network",
    checkpoint: Checkpoint | None = None,
    each: Callable[[Mapped], None] = lambda _: None,
) -> ReportData:
    """Attack the network where it is, once by each adversary. each : is given the pairs of every attack in the engine.

    What needs nodes one by one is left out: scores of names, distances, criteria, and the belief about each person.
    """
    attacks: list[StructureAttack] = []
    filed: list[Row] = []
    for at, (name, adversary) in enumerate(adversaries.items()):
        mapped = attack(*stored.networks, "seeds", adversary, name=f"attack{at}", checkpoint=checkpoint)
        found = None if stored.common is None else evaluate(stored.auxiliary, mapped)
        filed += _rows(stored, mapped, found, release=release, adversary=name)
        attacks.append(_summary(stored, mapped, found, release=release, name=name))
        each(mapped)
    unrun = {
        name: "it was not asked for" if name in IN_ENGINE else "it needs the networks in memory"
        for name in STANDARD
        if name not in {type(one).__name__ for one in adversaries.values()}
    }
    known = stored.common is not None
    reached = "can be found" if known else "are no seeds"
    return report(
        stored.networks,
        attacks,
        filed,
        names=list(adversaries),
        unrun=unrun,
        title=title,
        assumptions=(
            "Leaked identities are those of the file, and there is one run.",
            f"An attack has spread when it names at least {SPREADS:.0%} of the people who {reached}.",
            "Seeds are left out of all rates.",
        ),
        not_run=[("Scores of names, distances and criteria", "they need the networks in memory")],
        common=stored.common,
        acquired=True,
        truth_known=known,
        most_recall=None,
    ).cautioned(overlooked("release", stored.released.dropped))


def _rows(stored: Stored, mapped: Mapped, found: Found | None, *, release: str, adversary: str) -> Iterator[Row]:
    """The rates of one attack, beside guessing."""
    people, names = stored.auxiliary.n_nodes - stored.n_seeds, mapped.n_pairs - stored.n_seeds
    if not (people if found is None else found.rates.findable):
        raise UnmaskError("nobody is left to be found, expected at least 1 person who is no seed; ask for fewer")
    taken = [(coverage, names, people, 0.0)] if found is None else _taken(found.rates, found.guess / _size(stored))
    for measure, success, base, prior in taken:
        if base:
            note = f"over 1 run; {mapped.wedges:,} wedges"
            yield of_counts(measure, success, base, prior=prior, release=release, adversary=adversary, note=note)


def _size(stored: Stored) -> int:
    return max(stored.released.n_nodes, 1)


def _taken(rates: Rates, guess: float) -> list[tuple[Measure, int, int, float]]:
    """Measure, people it holds of, people it is of, and its value by guessing."""
    present = rates.findable / max(rates.findable + rates.false_positives + rates.absent, 1)
    spreads = rates.findable if (rates.recall or 0.0) >= SPREADS else 0
    return [
        (recall, rates.hits, rates.findable, guess),
        (spread, spreads, rates.findable, 0.0),
        (precision, rates.hits, rates.matches, guess * present),
        (named_wrongly, rates.misses, rates.findable, 1.0 - guess),
        (false_positives, rates.false_positives, rates.matches, 1.0 - present),
    ]


def _summary(stored: Stored, mapped: Mapped, found: Found | None, *, release: str, name: str) -> StructureAttack:
    people, names = stored.auxiliary.n_nodes - stored.n_seeds, mapped.n_pairs - stored.n_seeds
    rates, covered = None if found is None else found.rates, names / people
    reached = covered if rates is None else rates.recall or 0.0
    return StructureAttack(
        release=release,
        attack=name,
        seeds="given",
        n_seeds=stored.n_seeds,
        runs=1,
        spread_in=int(reached >= SPREADS),
        recall=None if rates is None else rates.recall,
        recall_low=None,
        recall_high=None,
        precision=None if rates is None else rates.precision,
        named_wrongly=None if rates is None else rates.error,
        false_positives=None if rates is None else rates.false_positive_share,
        coverage=covered,
        names=names,
        by_degree=tuple(
            DegreeRisk(one.low, one.high, one.people, one.recall, one.precision)
            for one in (() if found is None else found.by_degree)
            if one.recall is not None
        ),
        steps=mapped.sweeps,
    )
