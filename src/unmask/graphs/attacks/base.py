"""Common parts of graph attacks: parameters, seeds, and the belief of an attack."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights
from unmask.graphs.attacks._kernels import rank_candidates, read_only
from unmask.graphs.attacks._structs import TIE, UNKNOWN, Links, Rule, Side
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary
from unmask.ranges import CheckedParameters, Range

Count = Annotated[int, Range(1, 2**31 - 1)]
"""Positive integer that fits into int32, the type of node numbers in the loops."""

Theta = Annotated[float, Range(0)]
"""Smallest eccentricity of a match."""

Entries = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.floating]]
"""Rows, candidates, and log-probability of each pair, without repetitions."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Matching(Posterior):
    """Belief of an attack that maps each source node to a target node.

    Observations are source nodes, candidates are target nodes, and the prior is uniform. Attacks that only rank have
    status `scores`: their probabilities are not calibrated. They list a mapped node, including a seed, with probability
    1. For an unmapped node they list the best candidates with p(c) = exp(S_c) / (sum of exp(S) over the listed +
    n_unlisted). This is the softmax over all target nodes if unlisted nodes have score S = 0; these share the rest of
    the probability equally. A node without scored candidates keeps the prior. `Rematch` has another belief.

    Parameters
    ----------
    indptr, candidate, log_probability, unlisted, n_unlisted, observation, weight, n_candidates, \
log_prior, status, provenance, candidate_label, representative : see `Posterior`
        Fields of every posterior.
    mapping : (n_observations,) int32 array
        Target node of each source node, -1 if the attack leaves it unmapped.
    sweeps : (n_sweeps,) int64 array
        Number of matches made or changed in each pass over the nodes. The last entry is 0 unless passes were limited.
    visits : int
        Number of candidate visits in all passes, with repetitions: a measure of the work.
    """

    mapping: NDArray[np.int32]
    sweeps: Integers
    visits: int

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in {"mapping", "sweeps", "rounds"} & vars(self).keys():
            view = getattr(self, name).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    @property
    def named(self) -> NDArray[np.integer]:
        """Return the mapping."""
        return self.mapping


M = TypeVar("M", bound=Matching)
Function = TypeVar("Function", bound=Callable[..., Any])


class Attack(Protocol):
    """Attack on a graph: a function from a release and the adversary's knowledge to a belief. It never sees the truth.

    Built-in attacks are deterministic unless their docstring says otherwise; `rng` is for user-defined attacks. Common
    parameters: `theta` is the smallest eccentricity of a match, at least 0. `listed` is the largest number of
    candidates that the belief lists for an unmapped node. `threads` does not change the result and is not part of the
    attack's name.
    """

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""


def shared(function: Function) -> Function:
    """Keep each result of a function while its last argument exists: attacks with the same knowledge share their parts.

    Keyword arguments must not change the result.
    """
    results: WeakKeyDictionary[Any, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()

    @functools.wraps(function)
    def look_up(*arguments: Any, **options: Any) -> Any:
        *key, owner = arguments
        results_of_owner = results.setdefault(owner, {})
        if tuple(key) not in results_of_owner:
            results_of_owner[tuple(key)] = function(*arguments, **options)
        return results_of_owner[tuple(key)]

    return cast(Function, look_up)


class ScoringAttack(CheckedParameters):
    """Attack that scores candidates and lists the best ones of each unmapped node."""

    listed: int
    threads: int = 1


def seed_images(release: SocialGraph, knowledge: Auxiliary) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the images of the auxiliary nodes and of the released nodes: -1 except for seeds.

    Raise an error if there is no seed, if the lists differ in length, or if a node is repeated or out of range.
    """
    n_source, n_target = knowledge.graph.n_nodes, release.n_nodes
    source = _check_nodes(knowledge.seeds[0], n_source, "source")
    target = _check_nodes(knowledge.seeds[1], n_target, "target")
    if len(source) != len(target):
        raise UnmaskError(f"{len(source)} source and {len(target)} target seeds were given, expected equal counts")
    if not len(source):
        raise UnmaskError("there are no seeds, expected at least one; propagation starts from seeds")
    image, inverse = np.full(n_source, -1, np.int32), np.full(n_target, -1, np.int32)
    image[source], inverse[target] = target, source
    return image, inverse


def _check_nodes(nodes: NDArray[np.integer], n: int, side: str) -> Integers:
    array = np.asarray(nodes)
    if array.ndim != 1 or (len(array) and not np.issubdtype(array.dtype, np.integer)):
        raise UnmaskError(f"the {side} seeds are not a list of node numbers")
    if len(array) and (array.min() < 0 or array.max() >= n):
        position = int(np.flatnonzero((array < 0) | (array >= n))[0])
        raise UnmaskError(f"{side} seed {position} is node {array[position]}, expected 0..{n - 1}")
    if len(distinct(array)) != len(array):
        raise UnmaskError(f"a node is repeated among the {side} seeds, expected each node once")
    return array.astype(np.int64)


def positive_degree(graph: SocialGraph) -> Floats:
    """Return (n_nodes,) the degree of each node, with 1 for isolated nodes to avoid division by 0."""
    return np.maximum(np.diff(graph.indptr), 1).astype(np.float64)


def make_side(
    graph: SocialGraph,
    image: NDArray[np.int32],
    *,
    weight: NDArray[np.float32] | Floats | None = None,
    size: Floats | None = None,
    rows: Links | None = None,
) -> Side:
    """Return a graph as input of the loops, by default with weights and sizes of 1.

    rows : `directed_rows` of the graph; None: undirected
    """
    leader, rival = np.full((2, len(image)), UNKNOWN, dtype=np.int32)
    rows = read_only(graph.indptr, graph.neighbor) if rows is None else rows
    weight = np.ones(len(image)) if weight is None else weight
    return Side(*rows, image, weight, np.ones(len(image)) if size is None else size, leader, rival)


def make_matching(
    mapping: NDArray[np.int32],
    entries: Entries,
    *,
    n_target: int,
    sweeps: Sequence[int],
    visits: int,
    attack: str,
    unlisted: Floats | None = None,
    kind: type[M] = Matching,  # type: ignore[assignment]
    **further: Any,
) -> M:
    """Return the belief with these entries; a row without entries keeps the prior.

    unlisted : (n_source,) total probability of the target nodes that a row does not list; None: 1 minus the listed
    kind     : class of the belief, with the values of its further fields
    """
    row, candidate, log_p = entries
    n_source = len(mapping)
    order = np.argsort(row * np.int64(n_target) + candidate)
    candidate, log_p = candidate[order], np.minimum(log_p[order], 0.0)
    if unlisted is None:
        unlisted = np.maximum(1.0 - np.bincount(row[order], weights=np.exp(log_p), minlength=n_source), 0.0)
        unlisted[unlisted < 1e-9] = 0.0
    indptr = np.zeros(n_source + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n_source), out=indptr[1:])
    del entries, row, order  # free memory: millions of entries
    return kind(
        indptr=indptr,
        candidate=candidate.astype(np.int32, copy=False),
        log_probability=np.maximum(log_p, np.log(np.finfo(np.float32).tiny)).astype(np.float32, copy=False),
        unlisted=unlisted,
        n_unlisted=np.where(unlisted > 0, n_target - np.diff(indptr), 0),
        observation=np.arange(n_source),
        weight=equal_weights(n_source),
        n_candidates=n_target,
        log_prior=-float(np.log(n_target)),
        status="scores",
        provenance={"attack": attack},
        mapping=mapping,
        sweeps=np.array(sweeps, dtype=np.int64),
        visits=visits,
        **further,
    )


def score_matching(
    attack: ScoringAttack,
    source: Side,
    target: Side,
    rule: Rule,
    passes: Sequence[tuple[int, int]],
    *,
    best: tuple[NDArray[np.int32], Floats] | None = None,
) -> Matching:
    """Return the belief after the last pass, see `Matching`, with at most `listed` candidates for an unmapped node.

    passes : numbers of matches and of visits of each pass
    best   : `rank_candidates` of the unmapped nodes; None: not yet known

    Candidates that tie across this limit are not listed, so node numbers do not decide which are listed.
    """
    sweeps, visits = zip(*passes, strict=True)
    image, n_target = source.image, len(target.image)
    free = np.flatnonzero(image < 0).astype(np.int32)
    width = attack.listed + 1
    candidate, score = best or rank_candidates(free, source, target, rule, width=width, threads=attack.threads)
    is_listed = score > score[:, -1:] * (1.0 + TIE)
    top = np.where(is_listed[:, 0], score[:, 0], 0.0)  # scores are positive, so the best listed exceeds the unlisted
    shifted = np.where(is_listed, score - top[:, None], -np.inf)
    remainder = (n_target - is_listed.sum(axis=1)) * np.exp(-top)
    evidence = np.exp(shifted).sum(axis=1) + remainder
    row, rank = np.nonzero(is_listed)
    mapped, unlisted = np.flatnonzero(image >= 0).astype(np.int32), np.zeros(len(image))
    unlisted[free] = remainder / evidence
    log_p = (shifted[row, rank] - np.log(evidence)[row]).astype(np.float32)
    entries = (
        np.concatenate((free[row], mapped)),
        np.concatenate((candidate[row, rank], image[mapped])),
        np.concatenate((log_p, np.zeros(len(mapped), dtype=np.float32))),
    )
    return make_matching(
        image, entries, n_target=n_target, sweeps=sweeps, visits=sum(visits), attack=repr(attack), unlisted=unlisted
    )
