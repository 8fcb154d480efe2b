"""The currency: what the adversary believes about each target once they have seen the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import LONG, by_class, expanded, segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.notebook import SHOWN, html_table
from unmask.core.posterior_checks import MASS_TOLERANCE, check

Status = Literal["exact", "model", "calibrated", "scores"]

CLOSED = 1e-12
"""A prior that sums to 1 up to this, the rounding of a sum, leaves nothing to "none of these"."""

MOST_IN_DOUBLE = 1 << 24
"""Entries that a belief holds in double precision; one with more holds them in single, in half of the memory."""


_ARRAYS = ("indptr", "candidate", "log_probability", "unlisted", "n_unlisted", "observation", "weight")


class Candidate(NamedTuple):
    """One whom a target could be: a record by its number or a value by its name, and the adversary's probability."""

    candidate: int | str
    probability: float


LogProbabilities = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Posterior:
    """A sparse table observations x candidates of log-probabilities, with an explicit "none of these".

    A row is an *observation* y, what the adversary sees of a target; it holds log p(x given y), natural logarithm.
    Targets point to the row they produced: a million people in ten thousand equivalence classes need ten thousand rows.

    indptr          : (n_observations + 1,) int64, row i is the slice indptr[i]:indptr[i + 1] of the next two
    candidate       : (n_entries,) int32, ascending and unique within a row
    log_probability : (n_entries,) finite and at most 0; float64, or float32 where there are very many, see `stored`
    unlisted        : (n_observations,) probability that the truth is none of the listed candidates
    n_unlisted      : (n_observations,) how many candidates share it equally: 0 nobody (closed world, `unlisted` is 0,
                      or the truth may be no candidate at all), -1 unknown
    observation     : (n_targets,) the row that each target produced
    weight          : (n_targets,) weights of the targets, sum 1
    n_candidates    : size of the universe of candidates
    log_prior       : what was believed before the release: one number (each candidate alike) or (n_candidates,).
                      It may sum to less than 1: the rest is the prior probability that the target is no candidate.
    status          : how far the numbers can be trusted as probabilities: `exact`, `model` (right if the model is),
                      `calibrated` (right on people whose truth is known) or
                      `scores` (only their order counts).
    provenance      : attack, parameters, seed, digests: what it takes to make this belief again
    candidate_label : (n_candidates,) names for candidates that are values; None for records
    representative  : (n_candidates,) int32, who stands in the entries for each candidate, one of them for all that are
                      held alike whatever is seen; an entry is the probability of each of these. None: everybody stands
                      for themselves, see `one_by_one`

    Checked once, here. Rows that do not sum to 1 within 1e-5, repeated candidates, empty rows, infinite entries,
    weights that do not sum to 1, candidates believed in against a prior of zero and representatives who do not stand
    for themselves or differ in prior from those whom they stand for are refused.

    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section IV.
    """

    indptr: NDArray[np.int64]
    candidate: NDArray[np.int32]
    log_probability: LogProbabilities
    unlisted: NDArray[np.float64]
    n_unlisted: NDArray[np.int64]
    observation: NDArray[np.int64]
    weight: NDArray[np.float64]
    n_candidates: int
    log_prior: float | NDArray[np.float64]
    status: Status = "exact"
    provenance: Mapping[str, Any] = field(default_factory=dict)
    candidate_label: tuple[str, ...] | None = None
    representative: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        check(self, get_args(Status))
        for name in _ARRAYS if self.representative is None else (*_ARRAYS, "representative"):
            view = getattr(self, name).view()  # a view: the caller's own array stays as writable as it was
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    @property
    def n_observations(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def named(self) -> NDArray[np.integer] | None:
        """The candidate that an attack commits itself to for each observation, -1 for none: (n_observations,), or
        (n_rounds, n_observations) where it names several. None: it does not, and only believes.
        """
        return None

    @property
    def n_targets(self) -> int:
        """Number of targets; several may share a row."""
        return len(self.observation)

    @cached_property
    def row_length(self) -> NDArray[np.int64]:
        """(n_observations,) the number of listed candidates."""
        if self.times is None:
            return np.diff(self.indptr)
        return segment_sum(self.times.astype(np.float64), self.indptr).astype(np.int64)

    @cached_property
    def even(self) -> bool:
        """Whether all rows have as many entries, at least `LONG`: a matrix, which is summed sooner than segments."""
        length = int(self.indptr[1])
        return length >= LONG and bool(np.all(np.diff(self.indptr) == length))

    @cached_property
    def times(self) -> NDArray[np.int64] | None:
        """(n_entries,) the candidates that each entry stands for; None where that is one."""
        if self.representative is None:
            return None
        return np.bincount(self.representative, minlength=self.n_candidates)[self.candidate]

    def one_by_one(self) -> Posterior:
        """The same belief with an entry for each candidate, whoever stood for them.

        >>> both = Posterior.from_dense(np.full((1, 2), 0.5))
        >>> first, twins = both.candidate[:1], np.zeros(2, np.int32)
        >>> one = replace(
        ...     both, indptr=both.indptr // 2, candidate=first, log_probability=np.log([0.5]), representative=twins
        ... )
        >>> one.candidate, one.one_by_one().candidate
        (array([0], dtype=int32), array([0, 1], dtype=int32))
        """
        if self.representative is None:
            return self
        members = by_class(self.representative, self.n_candidates)
        first = np.concatenate(([0], np.cumsum(np.bincount(self.representative, minlength=self.n_candidates))))
        log_p = self.log_probability.astype(np.float64)
        indptr, candidate, log_p = expanded(self.row, self.candidate, log_p, members, first, self.n_observations)
        return replace(self, indptr=indptr, candidate=candidate, log_probability=stored(log_p), representative=None)

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """(n_entries,) the observation of each entry."""
        return np.repeat(np.arange(self.n_observations), np.diff(self.indptr))

    def to_dense(self) -> NDArray[np.float64]:
        """(n_targets, n_candidates) the probabilities that are listed, 0 elsewhere.

        >>> Posterior.from_dense(np.array([[0.5, 0.5, 0.0]])).to_dense()
        array([[0.5, 0.5, 0. ]])
        """
        table = np.zeros((self.n_observations, self.n_candidates))
        table[self.row, self.candidate] = np.exp(self.log_probability, dtype=np.float64)
        found = table[self.observation]
        return found if self.representative is None else found[:, self.representative]

    @property
    def resolution(self) -> float:
        """Log-probabilities that differ by no more are equal: they differ by the rounding of the type they are held in.

        >>> Posterior.from_dense(np.array([[0.5, 0.5]])).resolution
        1e-10
        """
        return 1e-10 if self.log_probability.dtype == np.float64 else 1e-5

    @cached_property
    def observation_weight(self) -> NDArray[np.float64]:
        """(n_observations,) p(y): the weight of the targets that produced each observation."""
        mass = np.bincount(self.observation, weights=self.weight, minlength=self.n_observations)
        return np.asarray(mass, dtype=np.float64)

    @cached_property
    def seen(self) -> NDArray[np.int64]:
        """The observations that a target produced, ascending."""
        return np.flatnonzero(np.bincount(self.observation, minlength=self.n_observations))

    def prior_of(self, candidate: NDArray[np.int32]) -> NDArray[np.float64]:
        """Natural log of the prior of each candidate asked for."""
        if isinstance(self.log_prior, np.ndarray):
            return np.asarray(self.log_prior[candidate], dtype=np.float64)
        return np.broadcast_to(np.float64(self.log_prior), candidate.shape)

    def prior_in(self, start: int, stop: int) -> NDArray[np.float64]:
        """The same of those who are listed in rows start..stop, who may be all candidates in every row."""
        if isinstance(self.log_prior, np.ndarray) and self.even and self.indptr[1] == self.n_candidates:
            return np.tile(self.log_prior, stop - start)
        return self.prior_of(self.candidate[self.indptr[start] : self.indptr[stop]])

    @cached_property
    def n_possible(self) -> int:
        """Candidates of positive prior."""
        return int(np.isfinite(self.log_prior).sum()) if isinstance(self.log_prior, np.ndarray) else self.n_candidates

    @cached_property
    def prior_none(self) -> float:
        """Prior probability that the target is no candidate; 0 where the prior sums to 1 up to rounding."""
        if isinstance(self.log_prior, np.ndarray):
            rest = 1.0 - float(np.exp(self.log_prior).sum())
        else:
            rest = -float(np.expm1(self.log_prior + np.log(self.n_candidates)))
        return rest if rest > CLOSED else 0.0

    def candidates(self, target: int) -> tuple[Candidate, ...]:
        """Who a target could be: the candidates that the adversary lists, from most to least likely.

        Equally likely ones stand in the order of their numbers. What their probabilities lack to 1 is `unlisted`: the
        target is none of these, or one of candidates who are all alike.

        >>> belief = Posterior.from_dense(np.array([[0.2, 0.8, 0.0]]))
        >>> [(one.candidate, round(one.probability, 6)) for one in belief.candidates(0)]
        [(1, 0.8), (0, 0.2)]
        """
        if not 0 <= target < self.n_targets:
            raise UnmaskError(f"target {target} is not in the belief, expected 0 to {self.n_targets - 1}")
        row = self.observation[target]
        own = slice(self.indptr[row], self.indptr[row + 1])
        chance = np.exp(self.log_probability[own], dtype=np.float64)
        listed: NDArray[np.integer[Any]] = self.candidate[own]
        if self.representative is not None:
            place = np.searchsorted(listed, self.representative)
            listed = np.flatnonzero(np.isin(self.representative, listed))
            chance = chance[place[listed]]
        best = np.argsort(-chance, kind="stable")
        names = listed[best].tolist()
        labels = names if self.candidate_label is None else [self.candidate_label[one] for one in names]
        return tuple(map(Candidate, labels, chance[best].tolist()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_targets} targets, {self.n_candidates} candidates, {self.status})"

    def _repr_html_(self) -> str:
        few = ((target, self.candidates(target)[:3]) for target in range(min(SHOWN, self.n_targets)))
        rows = ((target, *(f"{who}: {p:.3g}" for who, p in listed)) for target, listed in few)
        return html_table(repr(self), ("target", "most likely", "then", "then"), rows)

    def prior(self) -> Posterior:
        """The belief before the release, as a posterior with one observation that every target produced.

        A uniform prior over a closed world needs no listed candidate: all its mass is unlisted and shared.
        """
        return self._prior

    @cached_property  # every measure asks for it
    def _prior(self) -> Posterior:
        n = self.n_candidates
        one = np.zeros(self.n_targets, dtype=np.int64)
        if isinstance(self.log_prior, float) and not self.prior_none:
            candidate, unlisted, n_unlisted = np.empty(0, dtype=np.int32), 1.0, n
            listed = np.empty(0)
        else:
            every = np.arange(n, dtype=np.int32)
            log_prior = self.prior_of(every)
            candidate = every[np.isfinite(log_prior)]
            listed, unlisted, n_unlisted = log_prior[candidate], self.prior_none, 0
        return Posterior(
            indptr=np.array([0, len(candidate)]),
            candidate=candidate,
            log_probability=stored(listed),
            unlisted=np.array([unlisted]),
            n_unlisted=np.array([n_unlisted]),
            observation=one,
            weight=self.weight,
            n_candidates=n,
            log_prior=self.log_prior,
            status="exact",
            candidate_label=self.candidate_label,
        )

    @classmethod
    def from_dense(
        cls,
        probability: NDArray[np.float64],
        *,
        prior: NDArray[np.float64] | None = None,
        observation: NDArray[np.int64] | None = None,
        weight: NDArray[np.float64] | None = None,
        status: Status = "exact",
        provenance: Mapping[str, Any] | None = None,
        candidate_label: tuple[str, ...] | None = None,
    ) -> Posterior:
        """A posterior from a small dense table of probabilities; a row that sums to less than 1 leaves the rest to
        "none". What a row lacks is rounding, up to 1e-5, where the prior leaves nothing to "none".

        probability : (n_observations, n_candidates), rows sum to at most 1
        prior       : (n_candidates,), sums to at most 1; uniform when left out
        observation : (n_targets,), one target for each observation when left out
        weight      : (n_targets,), equal when left out

        >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.7]]))
        >>> belief.row_length, belief.unlisted.round(3)
        (array([2, 2]), array([0. , 0.1]))
        """
        table = np.asarray(probability, dtype=np.float64)
        if table.ndim != 2:
            raise UnmaskError(f"the table of probabilities has {table.ndim} axes, expected observations x candidates")
        if not np.all(np.isfinite(table)) or table.min(initial=0.0) < 0:
            raise UnmaskError("the table of probabilities has negative or infinite entries, expected numbers of 0 to 1")
        rest, whole = 1.0 - table.sum(axis=1), prior is None or abs(np.sum(prior) - 1.0) <= CLOSED
        rounding = (rest >= -MASS_TOLERANCE) & (rest <= (MASS_TOLERANCE if whole else CLOSED))
        unlisted = np.where(rounding, 0.0, rest)
        listed = table > 0
        targets = np.arange(len(table)) if observation is None else np.asarray(observation, dtype=np.int64)
        n = table.shape[1]
        with np.errstate(divide="ignore"):
            log_prior = float(-np.log(n)) if prior is None else np.log(np.asarray(prior, dtype=np.float64))
        return cls(
            indptr=np.concatenate(([0], np.cumsum(np.count_nonzero(listed, axis=1)))),
            candidate=np.nonzero(listed)[1].astype(np.int32),
            log_probability=stored(np.log(table[listed])),
            unlisted=unlisted,
            n_unlisted=np.zeros(len(table), dtype=np.int64),
            observation=targets,
            weight=equal_weights(len(targets)) if weight is None else weight,
            n_candidates=n,
            log_prior=log_prior,
            status=status,
            provenance=provenance or {},
            candidate_label=candidate_label,
        )


def stored(log_probability: NDArray[np.float64]) -> LogProbabilities:
    """Log-probabilities as a belief holds them: none above 0, in double precision up to `MOST_IN_DOUBLE` of them.

    >>> np.exp(stored(np.log([0.5, 1.0])))
    array([0.5, 1. ])
    """
    return np.asarray(np.minimum(log_probability, 0.0), dtype=precision(len(log_probability)))


def precision(n_entries: int) -> type[np.floating[Any]]:
    """The type in which a belief of so many entries is held."""
    return np.float64 if n_entries <= MOST_IN_DOUBLE else np.float32


def equal_weights(n_targets: int) -> NDArray[np.float64]:
    """(n_targets,) weights 1 / n_targets."""
    return np.full(n_targets, 1.0 / max(n_targets, 1))


def each_once(whose: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n_targets,) weights by which people count alike who are several targets; whose : who each of these is, from 0.

    >>> each_once(np.array([0, 0, 1]))
    array([0.25, 0.25, 0.5 ])
    """
    targets = np.bincount(whose)
    return np.asarray(1.0 / targets[whose] / np.count_nonzero(targets))


def log_odds(belief: Posterior) -> NDArray[np.float64]:
    """(n_targets,) log p(first) - log p(second) of a belief about two candidates, such as "in" and "out"; it may be
    infinite.

    >>> log_odds(Posterior.from_dense(np.array([[0.75, 0.25]]))).round(4)
    array([1.0986])
    """
    if belief.n_candidates != 2:
        raise UnmaskError(f"the belief has {belief.n_candidates} candidates, expected two, in and out")
    with np.errstate(divide="ignore"):
        one, other = np.log(belief.to_dense()).T
    return np.asarray(one - other)
