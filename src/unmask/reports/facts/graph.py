"""What a report shows of structural attacks on a released network, as values: of people together, never of one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from unmask.errors import UnmaskError

ROUNDING = 1e-9
"""By so much a share may leave its range: means of many do."""


@dataclass(frozen=True)
class DegreeRisk:
    """The people of one degree class: degrees in the source from `low` to `high`, None without end.

    people    : who are in both graphs, seeds out
    recall    : share of them who are named rightly
    precision : share right of all names given in the class; None where none was given
    """

    low: int
    high: int | None
    people: int
    recall: float
    precision: float | None

    def __post_init__(self) -> None:
        """Refuse shares that are none, and classes without a degree."""
        _shares(self, ("recall", "precision"))
        if self.high is not None and self.high < self.low:
            raise UnmaskError(f"a degree class is from {self.low} to {self.high}, expected the lower degree first")


@dataclass(frozen=True)
class CertaintyBin:
    """The matches whose score lies between `low` and `high`.

    matches     : how many there are in a run, on average
    sure, right : mean of the score, and share of the matches that are right
    """

    low: float
    high: float
    matches: int
    sure: float
    right: float

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        _shares(self, ("low", "high", "sure", "right"))


@dataclass(frozen=True)
class StructureAttack:
    """One attack on one release: rates are means over all runs, each with another perturbation or other seeds.

    release, attack : names, the pair of them once
    seeds, n_seeds  : how seeds are chosen ("random.25"), and how many there are
    runs, percolated : runs, and those of them in which the attack spread over the network
    recall          : share of the people in both graphs, seeds out, who are named rightly
    recall_low, recall_high : 95 % interval of the recall over runs; None where there is none
    precision       : share right of all names given, seeds out; where the truth is partial, of those given to people
                      with an entry in it. None where none was given
    precision_at_least : where the truth is partial, share right of all names given if nobody without an entry is in
                      the target
    error           : share of the people in both graphs, seeds out, who are given a wrong name
    ghosts          : share of all names given that are of people who are not in the target; None where not known
    coverage, names : share of the free nodes of the source that are given a name, and how many are, on average
    by_degree       : the people by degree class, the lowest first
    steps           : new matches in each pass of the first run
    certainty       : matches by score, the lowest first

    Where the truth is not known (`GraphRisk.truth_known`), all that is known are coverage and names.
    """

    release: str
    attack: str
    seeds: str
    n_seeds: int
    runs: int
    percolated: int
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    precision: float | None
    error: float | None
    ghosts: float | None
    coverage: float
    names: int
    by_degree: tuple[DegreeRisk, ...]
    steps: tuple[int, ...]
    certainty: tuple[CertaintyBin, ...] = ()
    precision_at_least: float | None = None

    def __post_init__(self) -> None:
        """Refuse shares that are none, more percolating runs than runs, and classes out of order."""
        _shares(self, ("recall", "recall_low", "recall_high", "precision", "precision_at_least"))
        _shares(self, ("error", "ghosts", "coverage"))
        _runs(self.percolated, self.runs, f"the attack {self.attack!r}")
        _rising((item.low for item in self.by_degree), "the degree classes")
        _rising((item.low for item in self.certainty), "the bins of certainty")


@dataclass(frozen=True)
class TransitionPoint:
    """Mean recall and coverage over all runs from so many seeds, and in how many of them the attack spread.

    recall, coverage : as in `StructureAttack`; recall is None where the truth is not known
    """

    attack: str
    seeds: str
    n_seeds: int
    runs: int
    percolated: int
    recall: float | None
    coverage: float

    def __post_init__(self) -> None:
        """Refuse shares that are none, and more percolating runs than runs."""
        _shares(self, ("recall", "coverage"))
        _runs(self.percolated, self.runs, f"the attack {self.attack!r} from {self.n_seeds:,} seeds")


@dataclass(frozen=True)
class OverlapPoint:
    """Mean rates where the graphs share so much; `percolated` is the share of runs in which the attack spread."""

    attack: str
    node_overlap: float
    edge_overlap: float
    recall: float
    error: float
    precision: float | None
    percolated: float

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        _shares(self, ("node_overlap", "edge_overlap", "recall", "error", "precision", "percolated"))


@dataclass(frozen=True)
class SeparationPoint:
    """One attack on a release in which some people, the adopters, have separated their identities.

    adopters              : how many of them can be found, on average over runs
    recall, recall_before : share of the people in both graphs who are named rightly, by any identity; and without
                            separation, None where that was not attacked
    adopter_recall, adopter_recall_before : the same among the adopters
    disclosure            : share of the adopters' contacts that the attack tells; without separation that is
                            `adopter_recall_before`, as who is named has all their contacts told
    decoyed, exposed      : share of the adopters who are found by their decoy, and by the identity that they hide; None
                            where there are no decoys

    Rates are means over all runs.
    """

    release: str
    attack: str
    adopters: int
    recall: float
    recall_before: float | None
    adopter_recall: float | None
    adopter_recall_before: float | None
    disclosure: float | None
    decoyed: float | None = None
    exposed: float | None = None

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        _shares(self, ("recall", "recall_before", "adopter_recall", "adopter_recall_before"))
        _shares(self, ("disclosure", "decoyed", "exposed"))


@dataclass(frozen=True)
class AnonymityLink:
    """How well a criterion that needs no attack foretells who is named.

    criterion   : "lta_a", "lta_b", "lta_c" or "degree"
    correlation : Spearman's rank correlation with the share of runs in which a person is named rightly
    ranked      : (percentile of the criterion in [0, 1], mean hit share there), by rising percentile
    """

    criterion: str
    correlation: float
    ranked: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        """Refuse a correlation beyond 1, and percentiles that do not rise."""
        if abs(self.correlation) > 1 + ROUNDING:
            raise UnmaskError(f"the correlation of {self.criterion!r} is {self.correlation:g}, expected -1 to 1")
        _rising((x for x, _ in self.ranked), f"the percentiles of {self.criterion!r}")
        if any(not -ROUNDING <= value <= 1 + ROUNDING for point in self.ranked for value in point):
            raise UnmaskError(f"a percentile or share of {self.criterion!r} lies outside 0 to 1")


@dataclass(frozen=True)
class GraphRisk:
    """A released network, what the adversary knows, and what attacks make of it.

    source_*, target_* : nodes and edges of what the adversary knows, and of the release (of the first run)
    common      : people in both graphs, None where not known
    truth_known : whether rates were checked against the truth; else nothing is said to be right
    truth_partial : whether people without an entry in the truth are neither right nor wrong
    not_run     : attacks that were not run on any release, and why
    most_recall : upper bound on recall by structural equivalence: nobody can tell twins apart; of the release
                  where most people are named; None where not run
    attacks     : at least one
    transition  : by number of seeds, "how many leaked identities unravel the network"
    overlaps    : by how much the graphs share
    anonymity   : criteria against what was found
    separations : where some people have several identities
    """

    source_nodes: int
    source_edges: int
    target_nodes: int
    target_edges: int
    common: int | None
    truth_known: bool
    most_recall: float | None
    attacks: tuple[StructureAttack, ...]
    transition: tuple[TransitionPoint, ...] = ()
    overlaps: tuple[OverlapPoint, ...] = ()
    anonymity: tuple[AnonymityLink, ...] = ()
    separations: tuple[SeparationPoint, ...] = ()
    truth_partial: bool = False
    not_run: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse no attack at all, attacks that cannot be told apart, and more common people than there are."""
        if not self.attacks:
            raise UnmaskError("the graph report has 0 attacks, expected at least 1")
        names = [(item.release, item.attack, item.seeds, item.n_seeds) for item in self.attacks]
        if len(set(names)) < len(names):
            given = f"{len(names)} attacks have {len(set(names))} names"
            raise UnmaskError(f"{given}, expected one for each release, attack and set of seeds")
        if self.common is not None and not 0 <= self.common <= min(self.source_nodes, self.target_nodes):
            sizes = f"graphs of {self.source_nodes:,} and {self.target_nodes:,} nodes"
            raise UnmaskError(f"{self.common:,} people are in both of {sizes}, expected at most the smaller number")
        _shares(self, ("most_recall",))


def _shares(item: object, names: Iterable[str]) -> None:
    for name in names:
        value = getattr(item, name)
        if value is not None and not math.isnan(value) and not -ROUNDING <= value <= 1 + ROUNDING:
            raise UnmaskError(f"{name} is {value:g}, expected a share from 0 to 1")


def _runs(percolated: int, runs: int, whose: str) -> None:
    if not 0 <= percolated <= runs or runs < 1:
        raise UnmaskError(f"{whose} spreads in {percolated} of {runs} runs, expected at least 1 run and no more")


def _rising(values: Iterable[float], what: str) -> None:
    given = list(values)
    if given != sorted(set(given)):
        raise UnmaskError(f"{what} do not rise, expected the lowest first, each once")
