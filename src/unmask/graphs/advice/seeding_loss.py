"""Effect of identity separation on seeding: adopters that an adversary misses, and lost cliques."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs import IdentitySeparation, SocialGraph
from unmask.graphs.criteria import Model, clique_failure, overall_failure, top_border, top_failure
from unmask.graphs.knowledge.seeding import count_cliques
from unmask.graphs.protections import Separated
from unmask.graphs.protections.contact_sorting import mean_shares
from unmask.ranges import Range
from unmask.results.formats import percent

CliqueSize = Annotated[int, Range(3, 5)]

Tolerance = Annotated[float, Range(0, 1, below=True)]

TOP_SHARE: Final = 0.015
"""Default share of nodes of highest degree that seeding tries to match: 1,000 of 66,000 in the source."""

FORMULAS: dict[str, Model] = {"basic": "basic", "best": "best"}
"""Model of a protection -> model of the formulas; models that copy contacts are realistic."""


@dataclass(frozen=True)
class SeedingLoss:
    """Failure of seeding for adopters, before they are attacked; None where no adopter is concerned.

    Parameters
    ----------
    clique_failure, clique_failure_least : float, optional
        Probability that seeding by a clique misses an adopter who is a member of it, mean and least over adopters.
    top_border : int
        Number of edges from which seeding by top degrees finds a person.
    top_failure, top_failure_least : float, optional
        Probability that all identities of an adopter above the border are below it, mean and least.
    top_failure_likely : float, optional
        Share of these adopters with a probability above one half.
    cliques_lost : float, optional
        Share of the cliques that are no longer in the release; None without cliques.
    cliques_lost_expected : float, optional
        Expected share; None if adopters are not independent.
    """

    clique_failure: float | None
    clique_failure_least: float | None
    top_border: int
    top_failure: float | None
    top_failure_least: float | None
    top_failure_likely: float | None
    cliques_lost: float | None
    cliques_lost_expected: float | None


def measure_seeding(
    graph: SocialGraph,
    separated: Separated,
    separation: IdentitySeparation,
    *,
    clique: CliqueSize = 4,
    tolerance: Tolerance = 0.05,
    top: Annotated[int, Range(1)] | None = None,
) -> SeedingLoss:
    """Return the effect of separate identities on seeding by cliques and by top degrees.

    The probabilities hold for the distribution of the number of identities and for mean shares of contacts (G. Gulyas,
    2015, (5.1) to (5.15)). If the model drops or copies contacts, shares are scaled by the contacts in the release.

    Parameters
    ----------
    clique : int
        size of the cliques from which an adversary starts
    tolerance : float
        relative difference up to which two numbers of edges count as equal
    top : int, optional
        number of people with most edges as start of an adversary (default: 1.5 % of the people)
    """
    degrees, counts = np.unique(graph.degree[separated.adopters], return_counts=True)
    border = max(find_border(graph, top), 1)
    division = _Division(separation, _kept_share(graph, separated))
    in_clique, in_top = degrees >= clique - 1, degrees >= border

    def miss_clique(degree: int, shares: Floats) -> float:
        return float(clique_failure(degree, shares, clique, tolerance, model=division.model))

    def miss_top(degree: int, shares: Floats) -> float:
        return float(top_failure(degree, shares, border, model=division.model))

    by_clique, by_top = division.failures(degrees[in_clique], miss_clique), division.failures(degrees[in_top], miss_top)
    n_before = count_cliques(graph, clique)
    n_after = count_cliques(separated.release, clique) if n_before else 0
    return SeedingLoss(
        clique_failure=_mean(by_clique, counts[in_clique]),
        clique_failure_least=_least(by_clique),
        top_border=border,
        top_failure=_mean(by_top, counts[in_top]),
        top_failure_least=_least(by_top),
        top_failure_likely=_mean((by_top > 0.5).astype(np.float64), counts[in_top]),
        cliques_lost=max(0.0, 1 - n_after / n_before) if n_before else None,
        cliques_lost_expected=_expected_loss(graph, separated, division, clique),
    )


def find_border(graph: SocialGraph, top: int | None) -> int:
    """Return the number of edges from which a person is among those with most edges, `TOP_SHARE` by default."""
    if top is not None and top > graph.n_nodes:
        raise UnmaskError(f"`top` is {top:,}, but the network has {graph.n_nodes:,} people; give at most that number")
    return top_border(graph.degree, top or max(1, round(TOP_SHARE * graph.n_nodes)))


@dataclass(frozen=True)
class _Division:
    """Distribution of the number of identities and mean share of contacts of each, as formulas take them.

    kept : contacts in the release, as a share of those before; above 1 if contacts are copied
    """

    separation: IdentitySeparation
    kept: float

    @property
    def model(self) -> Model:
        """Model of the formulas."""
        return FORMULAS.get(self.separation.model, "realistic")

    def shares(self, y: int) -> Floats:
        """Return (y,) the mean share of each identity."""
        return np.minimum(1.0, self.kept * mean_shares(self.separation.sorting, y))

    def failures(self, degrees: Integers, failure: Callable[[int, Floats], float]) -> Floats:
        """Return the probability of failure at each degree, over the number of identities: equation (5.1)."""

        def at_degree(degree: int) -> float:
            law = self.separation.identity_probabilities
            return overall_failure(law, lambda y: failure(degree, self.shares(min(y, degree))))

        return np.array([at_degree(degree) for degree in degrees.tolist()], dtype=np.float64)

    def share_together(self, n_contacts: int) -> float:
        """Return the probability that an identity of an adopter has all of some contacts."""
        probability = 0.0
        for y, chance in enumerate(self.separation.identity_probabilities.tolist()):
            if y and chance:
                whole = self.shares(y) ** n_contacts
                probability += chance * float(1 - np.prod(1 - whole) if self.model == "realistic" else whole.sum())
        return probability


def _kept_share(graph: SocialGraph, separated: Separated) -> float:
    """Return the contacts of adopters in the release, as a share of those before."""
    before = int(graph.degree[separated.adopters].sum())
    after = int(separated.release.degree[np.isin(separated.origin, separated.adopters)].sum())
    return after / before if before else 1.0


def _expected_loss(graph: SocialGraph, separated: Separated, division: _Division, clique: int) -> float | None:
    """Return the expected share of lost cliques if people adopt independently: equations (5.3) and (5.4)."""
    separation = division.separation
    n_willing = int(np.count_nonzero(graph.degree >= separation.minimum_degree))
    if separation.cooperation != "none" or separation.refuse_top or not n_willing:
        return None
    adopting = len(separated.adopters) / n_willing
    return 1 - (1 - adopting + adopting * division.share_together(clique - 1)) ** clique


def _mean(values: Floats, counts: Integers) -> float | None:
    return float(np.average(values, weights=counts)) if len(values) else None


def _least(values: Floats) -> float | None:
    return float(values.min()) if len(values) else None


def describe_seeding(loss: SeedingLoss, clique: int) -> Iterator[str]:
    """Yield the effect on seeding in plain sentences."""
    if loss.clique_failure is not None and loss.clique_failure_least is not None:
        yield (
            f"an adversary who starts from cliques of {clique} misses an adopter in them with a probability of "
            f"{percent(loss.clique_failure)} on average, at least {percent(loss.clique_failure_least)}"
        )
    if loss.top_failure is not None and loss.top_failure_least is not None:
        yield (
            f"an adversary who starts from people with at least {loss.top_border:,} edges misses an adopter among them "
            f"with {percent(loss.top_failure)} on average, at least {percent(loss.top_failure_least)}"
        )
    if loss.cliques_lost is not None:
        expected = loss.cliques_lost_expected
        comparison = "" if expected is None else f" ({percent(expected)} expected)"
        yield f"{percent(loss.cliques_lost)} of the cliques of {clique} are lost{comparison}"
