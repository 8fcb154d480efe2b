"""Aggregate facts about attacks on a released network. No fact concerns a single person."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from unmask.graphs.evaluation import DegreeClass

GUESSED = ("match_profiles", "match_top", "match_cliques")
"""Seeding methods without a truth: some seeds may be wrong."""

MIN_STABLE = 0.9
"""Share of runs in which an attack must spread from a stable number of seeds, and from every larger number."""

MAX_LINES = 6
"""Largest number of attacks in one chart."""


@dataclass(frozen=True)
class ScoreBin:
    """Matches with a score between `low` and `high`.

    Parameters
    ----------
    matches : int
        Mean number of matches in a run.
    score, right : float
        Mean score, and share of right matches.
    """

    low: float
    high: float
    matches: int
    score: float
    right: float


@dataclass(frozen=True)
class Announcement:
    """Success that an attack announces, and its actual success; means over people and runs.

    Parameters
    ----------
    recall : float, optional
        Announced recall among people in the release; None if a run refuses to announce it, or announces a bound only.
    recall_low, recall_high : float, optional
        95 % interval. A bound has no `recall_low`, a refusal has neither.
    right_high : float, optional
        Upper bound of the share of all people, without seeds, with a right match.
    right : float, optional
        This share; None if the truth is not known for all people.
    seed_check : str
        Announced and actual success for withheld seeds, in the run that announces least.
    curve : tuple of (float, float)
        Share of the seeds that were known, and share of withheld seeds that one round matched correctly.
    refused : tuple of str
        Reasons why no probability is announced, in the run that announces least.
    seed_ratio : float, optional
        Density of seeds around seeds relative to random draws; None if it was not tested.
    """

    recall: float | None
    recall_low: float | None
    recall_high: float | None
    right_high: float | None
    right: float | None
    seed_check: str
    curve: tuple[tuple[float, float], ...] = ()
    refused: tuple[str, ...] = ()
    seed_ratio: float | None = None


@dataclass(frozen=True)
class AttackFacts:
    """One attack on one release; rates are means over all runs, each with other networks or other seeds.

    If the truth is unknown (`GraphFacts.truth_known`), only coverage and matches are known. Of an attack from another
    number of seeds (`GraphFacts.transition`), only recall and coverage are.

    Parameters
    ----------
    release, attack : str
        Names; each pair of them occurs once.
    seeds, n_seeds : str, int
        Method that chooses seeds, such as "random.25", and number of seeds.
    runs, spread_in : int
        Number of runs, and number of runs in which the attack spread over the network.
    overlap : (float, float), optional
        Shares of people and edges in both networks, if these are made from one network and are not protected.
    people : int
        People in both networks, without seeds.
    recall : float, optional
        Share of these people who are matched correctly.
    recall_low, recall_high : float, optional
        95 % interval of the recall over runs.
    precision : float, optional
        Share of right matches; with a partial truth, among matches of people with an entry. None without a match.
    precision_at_least : float, optional
        With a partial truth: share of right matches if people without an entry are not in the release.
    named_wrongly : float, optional
        Share of `people` with a wrong match.
    false_positives : float, optional
        Share of matches of people who are not in the release.
    coverage, matches : float, int
        Share of people in the adversary's network with a match, and mean number of matches.
    degrees : tuple of DegreeClass
        People by degree, ascending.
    passes : tuple of int
        Number of new matches in each pass of the first run.
    scores : tuple of ScoreBin
        Matches by score, ascending.
    announced : Announcement, optional
        Success that the attack announces.
    """

    release: str
    attack: str
    seeds: str
    n_seeds: int
    runs: int
    spread_in: int
    overlap: tuple[float, float] | None = None
    people: int = 0
    recall: float | None = None
    recall_low: float | None = None
    recall_high: float | None = None
    precision: float | None = None
    precision_at_least: float | None = None
    named_wrongly: float | None = None
    false_positives: float | None = None
    coverage: float = 0.0
    matches: int = 0
    degrees: tuple[DegreeClass, ...] = ()
    passes: tuple[int, ...] = ()
    scores: tuple[ScoreBin, ...] = ()
    announced: Announcement | None = None

    @property
    def strength(self) -> tuple[float, float]:
        """Sort key of attacks: recall, or coverage if the truth is unknown; then precision."""
        precision = self.precision if is_known(self.precision) else None
        return self.coverage if self.recall is None else self.recall, precision or 0.0


@dataclass(frozen=True)
class ProtectionEffect:
    """One attack on a protected release and on the unprotected one; rates are means over runs.

    Parameters
    ----------
    recall, recall_before : float
        Share of people in both networks who are re-identified by any of their identities; without an attack on the
        unprotected release, `recall_before` is absent (None).
    adopters : int, optional
        Mean number of people with several identities who are not seeds; None if the protection changes edges only.
    adopter_recall, adopter_recall_before : float, optional
        Recall among the adopters.
    disclosure : float, optional
        Share of the adopters' contacts that the adversary learns. Without the protection it equals
        `adopter_recall_before`, because a match discloses all contacts.
    decoyed, exposed : float, optional
        Share of adopters whose decoy is found, and whose hidden identity is found; None without decoys.
    """

    release: str
    attack: str
    recall_before: float | None
    recall: float
    adopters: int | None = None
    adopter_recall_before: float | None = None
    adopter_recall: float | None = None
    disclosure: float | None = None
    decoyed: float | None = None
    exposed: float | None = None


@dataclass(frozen=True)
class CriterionLink:
    """Association between re-identification and a criterion that needs no attack.

    Parameters
    ----------
    criterion : {"lta_a", "lta_b", "lta_c", "degree"}
        Criterion of local anonymity.
    correlation : float
        Spearman's rank correlation with the share of attacks and runs that re-identify a person.
    ranked : tuple of (float, float)
        Percentile of the criterion, and mean share of attacks and runs that re-identify.
    """

    criterion: str
    correlation: float
    ranked: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class ScoreShare:
    """Share of people with one S(v) / runs, for an attack on the first release.

    Parameters
    ----------
    attack : str
        Attack.
    run_score : float
        S(v), right minus wrong matches, over the runs in which the person could be found: -1, -0.9, ..., 1. The value
        is cut to tenths towards 0, but only people without a difference have 0.
    share : float
        Share of the people who could be found in at least two runs.
    people : int
        Number of these people.
    """

    attack: str
    run_score: float
    share: float
    people: int


@dataclass(frozen=True)
class GraphFacts:
    """Facts about a released network, the adversary's network, and attacks.

    Parameters
    ----------
    source_nodes, source_edges, target_nodes, target_edges : int
        Sizes of the adversary's network and of the release in the first run.
    common : int, optional
        People in both networks; None if unknown.
    truth_known, truth_partial : bool
        True if matches were compared with a truth; True if people without an entry in it are not evaluated.
    acquired : bool
        True if the adversary's network was given; False if both networks are made from one.
    similar : int
        Number of pairs with a known similarity.
    most_recall : float, optional
        Upper bound of the recall from structural twins, on the release of the strongest attack. None if the adversary
        knows more than edges, or if people have several identities.
    attacks : tuple of AttackFacts
        At least one.
    transition : tuple of AttackFacts
        Attacks on the first release, by number of seeds and by method that chooses them.
    overlaps : tuple of AttackFacts
        Those of `attacks` with an overlap, if there are several overlaps.
    not_run : mapping of str to str
        Attack that ran on no release -> reason; "" if it was not requested.
    """

    source_nodes: int
    source_edges: int
    target_nodes: int
    target_edges: int
    common: int | None
    truth_known: bool
    most_recall: float | None
    attacks: tuple[AttackFacts, ...]
    truth_partial: bool = False
    acquired: bool = False
    similar: int = 0
    transition: tuple[AttackFacts, ...] = ()
    overlaps: tuple[AttackFacts, ...] = ()
    anonymity: tuple[CriterionLink, ...] = ()
    run_scores: tuple[ScoreShare, ...] = ()
    protections: tuple[ProtectionEffect, ...] = ()
    utility: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    not_run: Mapping[str, str] = field(default_factory=dict)

    @property
    def first(self) -> AttackFacts:
        """The strongest attack."""
        return strongest_first(self.attacks)[0]

    @property
    def has_several_releases(self) -> bool:
        """True if sentences about an attack must name its release."""
        return len({attack.release for attack in self.attacks}) > 1

    @property
    def styles(self) -> dict[str, int]:
        """Attack -> number of its color and shape: its index among the adversaries of the rows."""
        names = dict.fromkeys(attack.attack for attack in self.attacks)
        return {name: style for style, name in enumerate(names)}

    @property
    def seed_methods(self) -> list[str]:
        """Methods that chose the seeds of `transition`, in their order."""
        return list(dict.fromkeys(point.seeds for point in self.transition))

    @property
    def drawn(self) -> dict[str, int]:
        """Attack in charts -> rank: strongest first, on the release with the most re-identified people."""
        strongest = strongest_first(attack for attack in self.attacks if attack.release == self.first.release)
        return {attack.attack: rank for rank, attack in enumerate(strongest[:MAX_LINES])}

    @property
    def overlap_pairs(self) -> list[tuple[float, float]]:
        """Attacked overlaps of people and of edges, ascending."""
        return sorted({attack.overlap for attack in self.overlaps if attack.overlap})

    def adopters(self, release: str) -> int | None:
        """Return the number of people with several identities in a release; None without any."""
        return next((effect.adopters for effect in self.protections if effect.release == release), None)

    def is_unprotected(self, release: str) -> bool:
        """Return True if the audit changed neither edges nor identities of a release."""
        return release not in self.utility and self.adopters(release) is None


def find_stable_seeds(points: Iterable[AttackFacts]) -> AttackFacts | None:
    """Return the fewest seeds from which on the attack spreads in most runs; None if it does not with the most."""
    stable = None
    for point in sorted(points, key=lambda point: -point.n_seeds):
        if point.spread_in < MIN_STABLE * point.runs:
            break
        stable = point
    return stable


def find_stable_by(points: Iterable[AttackFacts], name: Literal["attack", "seeds"]) -> dict[str, AttackFacts | None]:
    """Return the fewest seeds from which most runs spread, for each attack or for each method of choosing seeds."""
    groups: dict[str, list[AttackFacts]] = {}
    for point in points:
        groups.setdefault(getattr(point, name), []).append(point)
    return {group: find_stable_seeds(counts) for group, counts in groups.items()}


def strongest_first(attacks: Iterable[AttackFacts]) -> list[AttackFacts]:
    """Return attacks by descending strength; the sort is stable."""
    return sorted(attacks, key=lambda attack: attack.strength, reverse=True)


def strongest_by_release(attacks: Iterable[AttackFacts]) -> dict[str, AttackFacts]:
    """Return the strongest attack on each release, in the order of the releases."""
    strongest: dict[str, AttackFacts] = {}
    for attack in attacks:
        if attack.release not in strongest or attack.strength > strongest[attack.release].strength:
            strongest[attack.release] = attack
    return strongest


def is_known(value: float | None) -> bool:
    """Return True if the value is a number: neither None nor NaN."""
    return value is not None and not math.isnan(value)
