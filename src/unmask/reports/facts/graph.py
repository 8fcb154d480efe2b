"""What a report shows of structural attacks on a released network, as values: of people together, never of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from unmask.reports.subject import Subject
from unmask.results.suppression import TENTH


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


@dataclass(frozen=True)
class Announcement:
    """The success that an attack announces, as means over people and runs, next to what came true.

    if_there        : probability that the match of a person who is in the release is right; over such people, all but
                      the seeds where the truth is not known. None where a run refuses it or announces a bound alone
    if_there_low, if_there_high : its 95 % interval; a bound has no `if_there_low`, and a refusal neither
    of_anybody_high : bound of the share of everybody but the seeds whose match is right, from the number of nodes
    came_true       : that share; None where the truth is not known of all
    held            : of withheld seeds, what was announced and what came true, in the run that announces least
    curve           : share of the seeds that were known, and share of withheld seeds that one round matched rightly
    refused         : why no probability is announced, in that run
    seed_ratio      : seeds around seeds, compared with random draws; None where that was not tested
    """

    if_there: float | None
    if_there_low: float | None
    if_there_high: float | None
    of_anybody_high: float | None
    came_true: float | None
    held: str
    curve: tuple[tuple[float, float], ...] = ()
    refused: tuple[str, ...] = ()
    seed_ratio: float | None = None


@dataclass(frozen=True)
class StructureAttack:
    """One attack on one release: rates are means over all runs, each with another perturbation or other seeds.

    release, attack : names, the pair of them once
    seeds, n_seeds  : how seeds are chosen ("random.25"), and how many there are
    runs, spread_in : runs, and those of them in which the attack spread over the network
    recall          : share of the people in both graphs, seeds out, who are named rightly
    recall_low, recall_high : 95 % interval of the recall over runs; None where there is none
    precision       : share right of all names given, seeds out; where the truth is partial, of those given to people
                      with an entry in it. None where none was given
    precision_at_least : where the truth is partial, share right of all names given if nobody without an entry is in
                      the target
    named_wrongly   : share of the people in both graphs, seeds out, who are given a wrong name
    false_positives : share of all names given that are of people who are not in the target; None where not known
    coverage, names : share of the free nodes of the source that are given a name, and how many are, on average
    by_degree       : the people by degree class, the lowest first
    steps           : new matches in each pass of the first run
    certainty       : matches by score, the lowest first
    announced       : how sure the attack says it is; None where it says nothing

    Where the truth is not known (`GraphRisk.truth_known`), all that is known are coverage and names.
    """

    release: str
    attack: str
    seeds: str
    n_seeds: int
    runs: int
    spread_in: int
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    precision: float | None
    named_wrongly: float | None
    false_positives: float | None
    coverage: float
    names: int
    by_degree: tuple[DegreeRisk, ...]
    steps: tuple[int, ...]
    certainty: tuple[CertaintyBin, ...] = ()
    precision_at_least: float | None = None
    announced: Announcement | None = None

    def without_small(self, least: int) -> StructureAttack:
        """Without the degree classes of few people, and the bins of few matches."""
        return replace(
            self,
            by_degree=tuple(one for one in self.by_degree if one.people >= least),
            certainty=tuple(one for one in self.certainty if one.matches >= least),
        )


@dataclass(frozen=True)
class TransitionPoint:
    """Mean recall and coverage over all runs from so many seeds, and in how many of them the attack spread.

    recall, coverage : as in `StructureAttack`; recall is None where the truth is not known
    """

    attack: str
    seeds: str
    n_seeds: int
    runs: int
    spread_in: int
    recall: float | None
    coverage: float


@dataclass(frozen=True)
class OverlapPoint:
    """Mean rates where the graphs share so much; `spread` is the share of runs in which the attack spread."""

    attack: str
    node_overlap: float
    edge_overlap: float
    recall: float
    named_wrongly: float
    precision: float | None
    spread: float


@dataclass(frozen=True)
class SeparationPoint:
    """One attack on a protected release; in some, people who adopt the protection have separated their identities.

    adopters              : how many of them can be found, on average over runs; 0 where edges are changed
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


@dataclass(frozen=True)
class GraphRisk(Subject):
    """A released network, what the adversary knows, and what attacks make of it.

    source_*, target_* : nodes and edges of what the adversary knows, and of the release (of the first run)
    common      : people in both graphs, None where not known
    truth_known : whether rates were checked against the truth; else nothing is said to be right
    truth_partial : whether people without an entry in the truth are neither right nor wrong
    similar     : pairs of people of whom the adversary knows how similar they are
    not_run     : attacks that were not run on any release, and why
    most_recall : upper bound on recall by structural equivalence: nobody can tell twins apart by edges; of the release
                  where most people are named; None where not run, or where the adversary knows more than edges
    acquired    : whether the adversary's network was given; else both are made of the release
    attacks     : at least one
    transition  : by number of seeds, "how many leaked identities unravel the network"
    overlaps    : by how much the graphs share
    anonymity   : criteria against what was found
    separations : where some people have several identities
    """

    name: ClassVar = "graph"
    shown_by: ClassVar = "unmask.reports.sections.graph"
    kind: ClassVar = "Network audit"
    verb: ClassVar = "audit graph"
    asks: ClassVar = "recall <= 0.09"
    told: ClassVar = frozenset({"recall", "coverage"})

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
    similar: int = 0
    not_run: tuple[tuple[str, str], ...] = ()
    acquired: bool = False

    def without_small(self, least: int) -> GraphRisk:
        """Without classes and bins of few, adopters who are few, and tenths of few people."""
        tenths = self.common is None or self.common >= TENTH * least
        return replace(
            self,
            attacks=tuple(one.without_small(least) for one in self.attacks),
            anonymity=self.anonymity if tenths else tuple(replace(one, ranked=()) for one in self.anonymity),
            separations=tuple(one for one in self.separations if not 0 < one.adopters < least),
        )
