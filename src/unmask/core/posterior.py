"""The posterior: an adversary's belief about each target after the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import expand_entries, list_members, segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.notebook import SHOWN, html_table
from unmask.core.posterior_checks import check_posterior
from unmask.core.tolerances import DOUBLE_LOG_RESOLUTION, MASS_TOLERANCE, PRIOR_ROUNDING, SINGLE_LOG_RESOLUTION

Status = Literal["exact", "model", "calibrated", "scores"]

MAX_DOUBLE_ENTRIES = 1 << 24
"""Largest number of entries in double precision; larger posteriors use single precision to save memory."""

_ARRAYS = ("indptr", "candidate", "log_probability", "unlisted", "n_unlisted", "observation", "weight")


class Candidate(NamedTuple):
    """A candidate (number of a record or name of a value), and its probability."""

    candidate: int | str
    probability: float


LogProbabilities = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Posterior:
    """A sparse matrix of log-probabilities, observations x candidates, with an explicit "none of these".

    A row is an observation y: the adversary's view of a target. It lists log p(x given y), natural logarithm. Targets
    refer to rows, so a million people in ten thousand equivalence classes need ten thousand rows.

    Parameters
    ----------
    indptr : (n_observations + 1,) int64 array
        Row i is the slice indptr[i]:indptr[i + 1] of the next two arrays.
    candidate : (n_entries,) int32 array
        Candidates, ascending and unique within a row.
    log_probability : (n_entries,) array
        Finite and at most 0; float64, or float32 for very many entries, see `stored`.
    unlisted : (n_observations,) array
        Probability that the truth is not a listed candidate.
    n_unlisted : (n_observations,) int64 array
        Number of candidates that share `unlisted` equally. 0: none (`unlisted` is 0, or the target may be absent). -1:
        unknown.
    observation : (n_targets,) int64 array
        Row of each target.
    weight : (n_targets,) array
        Weights of the targets; they sum to 1.
    n_candidates : int
        Number of all candidates.
    log_prior : float or (n_candidates,) array
        Belief before the release; one number if it is equal for all candidates. The sum may be less than 1: the rest is
        the prior probability that the target is absent.
    status : {"exact", "model", "calibrated", "scores"}
        Meaning of the probabilities. `exact`: correct. `model`: correct if the model is. `calibrated`: tested on people
        with known truth. `scores`: only the order is meaningful.
    provenance : mapping
        Attack, parameters, seed and digests that reproduce this posterior.
    candidate_label : tuple of str, optional
        Names of candidates that are values; None for records.
    representative : (n_candidates,) int32 array, optional
        Candidate whose entry applies to each candidate. Candidates with equal probabilities in every row share an
        entry, which is the probability of each of them. None: each candidate has its own entries.

    Raises
    ------
    UnmaskError
        If rows do not sum to 1 within 1e-5, candidates repeat, entries are infinite, weights do not sum to 1, a listed
        candidate has a prior of 0, or a representative is inconsistent.

    References
    ----------
    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section IV.
    """

    indptr: Integers
    candidate: NDArray[np.int32]
    log_probability: LogProbabilities
    unlisted: Floats
    n_unlisted: Integers
    observation: Integers
    weight: Floats
    n_candidates: int
    log_prior: float | Floats
    status: Status = "exact"
    provenance: Mapping[str, Any] = field(default_factory=dict)
    candidate_label: tuple[str, ...] | None = None
    representative: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        check_posterior(self, get_args(Status))
        for name in _ARRAYS if self.representative is None else (*_ARRAYS, "representative"):
            view = getattr(self, name).view()  # a view: the flags of the caller's array do not change
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    @property
    def n_observations(self) -> int:
        """Return the number of rows."""
        return len(self.indptr) - 1

    @property
    def named(self) -> NDArray[np.integer] | None:
        """Return the candidate that the attack names for each observation, -1 for none.

        The shape is (n_observations,), or (n_rounds, n_observations) if the attack names several. None: the attack
        returns only probabilities.
        """
        return None

    @property
    def n_targets(self) -> int:
        """Return the number of targets; several may share a row."""
        return len(self.observation)

    def take(self, targets: Integers | Booleans) -> Posterior:
        """Return the belief about some targets, by position or mask, each with the same weight."""
        observation = self.observation[targets]
        return replace(self, observation=observation, weight=equal_weights(len(observation)))

    @cached_property
    def row_length(self) -> Integers:
        """Return the number of listed candidates of each row."""
        if self.multiplicity is None:
            return np.diff(self.indptr)
        return segment_sum(self.multiplicity.astype(np.float64), self.indptr).astype(np.int64)

    @property
    def representatives(self) -> NDArray[np.int32]:
        """Return the candidate whose entry applies to each candidate."""
        if self.representative is None:
            return np.arange(self.n_candidates, dtype=np.int32)
        return self.representative

    @cached_property
    def multiplicity(self) -> Integers | None:
        """Return the number of candidates that share each entry; None if all numbers are 1."""
        if self.representative is None:
            return None
        return np.bincount(self.representative, minlength=self.n_candidates)[self.candidate]

    def sum_candidates(self, values: Floats) -> Floats:
        """Return for each row the sum of entry values over its listed candidates."""
        return segment_sum(values if self.multiplicity is None else values * self.multiplicity, self.indptr)

    def expand_classes(self) -> Posterior:
        """Return the same posterior with an entry for each candidate.

        >>> pair = Posterior.from_dense(np.full((1, 2), 0.5))
        >>> shared = replace(
        ...     pair,
        ...     indptr=pair.indptr // 2,
        ...     candidate=pair.candidate[:1],
        ...     log_probability=np.log([0.5]),
        ...     representative=np.zeros(2, np.int32),
        ... )
        >>> shared.candidate, shared.expand_classes().candidate
        (array([0], dtype=int32), array([0, 1], dtype=int32))
        """
        if self.representative is None:
            return self
        members = list_members(self.representative)
        first = np.concatenate(([0], np.cumsum(np.bincount(self.representative, minlength=self.n_candidates))))
        log_p = self.log_probability.astype(np.float64)
        indptr, candidate, log_p = expand_entries(self.row, self.candidate, log_p, members, first, self.n_observations)
        return replace(self, indptr=indptr, candidate=candidate, log_probability=stored(log_p), representative=None)

    def discard_results(self) -> None:
        """Discard all that is cached on this posterior; it is computed again if it is needed."""
        for name in self.__dict__.keys() - {item.name for item in fields(self)}:
            del self.__dict__[name]

    @cached_property
    def row(self) -> Integers:
        """Return the row of each entry."""
        return np.repeat(np.arange(self.n_observations), np.diff(self.indptr))

    def to_sparse(self) -> scipy.sparse.csr_array[Any, Any]:
        """Return the listed probabilities, (n_observations, n_candidates); an entry is that of its representative."""
        entries = np.exp(self.log_probability, dtype=np.float64), self.candidate, self.indptr
        return scipy.sparse.csr_array(entries, shape=(self.n_observations, self.n_candidates))

    def to_dense(self) -> Floats:
        """Return the listed probabilities of each target, (n_targets, n_candidates), 0 elsewhere.

        >>> Posterior.from_dense(np.array([[0.5, 0.5, 0.0]])).to_dense()
        array([[0.5, 0.5, 0. ]])
        """
        table = np.zeros((self.n_observations, self.n_candidates))
        table[self.row, self.candidate] = np.exp(self.log_probability, dtype=np.float64)
        targets = table[self.observation]
        return targets if self.representative is None else targets[:, self.representative]

    @property
    def resolution(self) -> float:
        """Return the largest difference of equal log-probabilities: the rounding error of their type.

        >>> Posterior.from_dense(np.array([[0.5, 0.5]])).resolution
        1e-10
        """
        return DOUBLE_LOG_RESOLUTION if self.log_probability.dtype == np.float64 else SINGLE_LOG_RESOLUTION

    @cached_property
    def observation_weight(self) -> Floats:
        """Return p(y), the weight of the targets of each observation."""
        mass = np.bincount(self.observation, weights=self.weight, minlength=self.n_observations)
        return np.asarray(mass, dtype=np.float64)

    @cached_property
    def used_rows(self) -> Integers:
        """Return the rows with a target, ascending."""
        return np.flatnonzero(np.bincount(self.observation, minlength=self.n_observations))

    @cached_property
    def first_target(self) -> Integers:
        """Return the first target of each row; 0 for a row without one."""
        first = np.zeros(self.n_observations, dtype=np.int64)
        first[self.observation[::-1]] = np.arange(self.n_targets)[::-1]
        return first

    def prior_of(self, candidate: NDArray[np.int32]) -> Floats:
        """Return the natural logarithm of the prior of these candidates."""
        if isinstance(self.log_prior, np.ndarray):
            return np.asarray(self.log_prior[candidate], dtype=np.float64)
        return np.broadcast_to(np.float64(self.log_prior), candidate.shape)

    @cached_property
    def n_possible(self) -> int:
        """Return the number of candidates with a positive prior."""
        return int(np.isfinite(self.log_prior).sum()) if isinstance(self.log_prior, np.ndarray) else self.n_candidates

    @cached_property
    def prior_none(self) -> float:
        """Return the prior probability that the target is absent; 0 if the prior sums to 1 within rounding."""
        if isinstance(self.log_prior, np.ndarray):
            remainder = 1.0 - float(np.exp(self.log_prior).sum())
        else:
            remainder = -float(np.expm1(self.log_prior + np.log(self.n_candidates)))
        return remainder if remainder > PRIOR_ROUNDING else 0.0

    def candidates(self, target: int) -> tuple[Candidate, ...]:
        """Return the listed candidates of a target, from most to least likely.

        Candidates of equal probability are sorted by number. The probabilities and `unlisted` sum to 1.

        >>> belief = Posterior.from_dense(np.array([[0.2, 0.8, 0.0]]))
        >>> [(candidate.candidate, round(candidate.probability, 6)) for candidate in belief.candidates(0)]
        [(1, 0.8), (0, 0.2)]
        """
        if not 0 <= target < self.n_targets:
            raise UnmaskError(f"target {target} is not in the belief, expected 0 to {self.n_targets - 1}")
        row = self.observation[target]
        entries = slice(self.indptr[row], self.indptr[row + 1])
        probability = np.exp(self.log_probability[entries], dtype=np.float64)
        numbers: NDArray[np.integer[Any]] = self.candidate[entries]
        if self.representative is not None:
            position = np.searchsorted(numbers, self.representative)
            numbers = np.flatnonzero(np.isin(self.representative, numbers))
            probability = probability[position[numbers]]
        order = np.argsort(-probability, kind="stable")
        names = numbers[order].tolist()
        labels = names if self.candidate_label is None else [self.candidate_label[name] for name in names]
        return tuple(map(Candidate, labels, probability[order].tolist()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_targets} targets, {self.n_candidates} candidates, {self.status})"

    def _repr_html_(self) -> str:
        top = ((target, self.candidates(target)[:3]) for target in range(min(SHOWN, self.n_targets)))
        rows = ((target, *(f"{name}: {p:.3g}" for name, p in candidates)) for target, candidates in top)
        return html_table(repr(self), ("target", "most likely", "then", "then"), rows)

    def prior(self) -> Posterior:
        """Return the belief before the release: a posterior with one row for all targets.

        A uniform prior without absent targets lists no candidate: all candidates share its unlisted mass.
        """
        return self._prior

    @cached_property  # used by every measure
    def _prior(self) -> Posterior:
        n = self.n_candidates
        if isinstance(self.log_prior, float) and not self.prior_none:
            candidate, log_p, unlisted, n_unlisted = np.empty(0, dtype=np.int32), np.empty(0), 1.0, n
        else:
            log_prior = self.prior_of(np.arange(n, dtype=np.int32))
            candidate = np.flatnonzero(np.isfinite(log_prior)).astype(np.int32)
            log_p, unlisted, n_unlisted = log_prior[candidate], self.prior_none, 0
        return Posterior(
            indptr=np.array([0, len(candidate)]),
            candidate=candidate,
            log_probability=stored(log_p),
            unlisted=np.array([unlisted]),
            n_unlisted=np.array([n_unlisted]),
            observation=np.zeros(self.n_targets, dtype=np.int64),
            weight=self.weight,
            n_candidates=n,
            log_prior=self.log_prior,
            status="exact",
            candidate_label=self.candidate_label,
        )

    @classmethod
    def from_entries(
        cls,
        indptr: NDArray[np.integer],
        candidate: NDArray[np.integer],
        log_probability: Floats,
        *,
        n_candidates: int,
        observation: NDArray[np.integer],
        **optional: Any,
    ) -> Posterior:
        """Return a posterior from its entries, with defaults for the other arguments of `Posterior`.

        By default, targets have equal weights and the prior is uniform. The target of an empty row is absent; other
        rows have no unlisted probability.

        >>> belief = Posterior.from_entries(
        ...     np.array([0, 2]), np.arange(2), np.log([0.5, 0.5]), n_candidates=2, observation=np.zeros(3, int)
        ... )
        >>> belief.row_length, belief.unlisted, belief.n_targets
        (array([2]), array([0.]), 3)
        """
        is_empty = np.diff(indptr) == 0
        defaults: dict[str, Any] = {
            "unlisted": is_empty.astype(np.float64),
            "n_unlisted": np.zeros(len(is_empty), dtype=np.int64),
            "weight": equal_weights(len(observation)),
            "log_prior": -float(np.log(n_candidates)),
        }
        return cls(
            indptr=np.asarray(indptr, dtype=np.int64),
            candidate=candidate.astype(np.int32, copy=False),
            log_probability=stored(log_probability),
            observation=np.asarray(observation, dtype=np.int64),
            n_candidates=n_candidates,
            **(defaults | optional),
        )

    @classmethod
    def from_dense(
        cls,
        probability: Floats,
        *,
        prior: Floats | None = None,
        observation: Integers | None = None,
        weight: Floats | None = None,
        status: Status = "exact",
        provenance: Mapping[str, Any] | None = None,
        candidate_label: tuple[str, ...] | None = None,
    ) -> Posterior:
        """Return a posterior from a small dense matrix of probabilities.

        If a row sums to less than 1, the rest is the probability of an absent target. If the prior sums to 1, a rest of
        at most 1e-5 is a rounding error.

        Parameters
        ----------
        probability : (n_observations, n_candidates) array
            Rows sum to at most 1.
        prior : (n_candidates,) array, optional
            Sum at most 1; default: uniform.
        observation : (n_targets,) array, optional
            Row of each target; default: one target for each row.
        weight : (n_targets,) array, optional
            Weight of each target; default: equal.
        status, provenance, candidate_label
            See `Posterior`.

        Returns
        -------
        Posterior
            The posterior without zero entries.

        Examples
        --------
        >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.7]]))
        >>> belief.row_length, belief.unlisted.round(3)
        (array([2, 2]), array([0. , 0.1]))
        """
        table = np.asarray(probability, dtype=np.float64)
        if table.ndim != 2:
            raise UnmaskError(f"the table of probabilities has {table.ndim} axes, expected observations x candidates")
        if not np.all(np.isfinite(table)) or table.min(initial=0.0) < 0:
            raise UnmaskError("the table of probabilities has negative or infinite entries, expected numbers of 0 to 1")
        remainder, is_closed = 1.0 - table.sum(axis=1), prior is None or abs(np.sum(prior) - 1.0) <= PRIOR_ROUNDING
        is_rounding = (remainder >= -MASS_TOLERANCE) & (remainder <= (MASS_TOLERANCE if is_closed else PRIOR_ROUNDING))
        positive, n = table > 0, table.shape[1]
        targets = np.arange(len(table)) if observation is None else np.asarray(observation, dtype=np.int64)
        with np.errstate(divide="ignore"):
            log_prior = float(-np.log(n)) if prior is None else np.log(np.asarray(prior, dtype=np.float64))
        return cls.from_entries(
            np.concatenate(([0], np.cumsum(np.count_nonzero(positive, axis=1)))),
            np.broadcast_to(np.arange(n, dtype=np.int32), table.shape)[positive],
            np.log(table[positive]),
            unlisted=np.where(is_rounding, 0.0, remainder),
            observation=targets,
            weight=equal_weights(len(targets)) if weight is None else weight,
            n_candidates=n,
            log_prior=log_prior,
            status=status,
            provenance=provenance or {},
            candidate_label=candidate_label,
        )


def stored(log_probability: Floats) -> LogProbabilities:
    """Return log-probabilities in storage form: at most 0, in the type of `precision`.

    >>> np.exp(stored(np.log([0.5, 1.0])))
    array([0.5, 1. ])
    """
    return np.asarray(np.minimum(log_probability, 0.0), dtype=precision(len(log_probability)))


def precision(n_entries: int) -> type[np.floating[Any]]:
    """Return the type of the log-probabilities of a posterior with this number of entries."""
    return np.float64 if n_entries <= MAX_DOUBLE_ENTRIES else np.float32


def equal_weights(n_targets: int) -> Floats:
    """Return the weights 1 / n_targets, a read-only view of one number."""
    return np.broadcast_to(1.0 / max(n_targets, 1), (n_targets,))


def weigh_people_equally(person: Integers) -> Floats:
    """Return weights of targets that sum to the same value for each person.

    person : (n_targets,) person of each target, numbered from 0

    >>> weigh_people_equally(np.array([0, 0, 1]))
    array([0.25, 0.25, 0.5 ])
    """
    n_targets = np.bincount(person)
    return np.asarray(1.0 / n_targets[person] / np.count_nonzero(n_targets))


def log_odds(belief: Posterior) -> Floats:
    """Return log p(first) - log p(second) of a belief about two candidates, such as "in" and "out"; may be infinite.

    >>> log_odds(Posterior.from_dense(np.array([[0.75, 0.25]]))).round(4)
    array([1.0986])
    """
    if belief.n_candidates != 2:
        raise UnmaskError(f"the belief has {belief.n_candidates} candidates, expected two, in and out")
    with np.errstate(divide="ignore"):
        first, second = np.log(belief.to_dense()).T
    return np.asarray(first - second)
