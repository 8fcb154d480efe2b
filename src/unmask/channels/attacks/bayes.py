"""The attack of an adversary who knows the channel: Bayes' rule for each observed output."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from unmask.channels._beliefs import closed_belief
from unmask.channels._matrices import Floats, Ints
from unmask.channels.channel import Channel, check_outputs
from unmask.core.csr_rows import segment_max, segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights, stored

MIN_LOG_PROBABILITY = -80.0
"""Candidates with less ln p(x given y) are not listed: single precision ends there."""


@dataclass(frozen=True)
class BayesChannelAttack:
    """The attack by Bayes' rule: p(x given y) = p(x) p(y given x) / p(y) for the observed outputs.

    The attack takes outputs (n_targets,), one of each target, or (n_targets, n_observations), several outputs of the
    *same* secret that the mechanism drew independently: p(x given y_1..y_m) is proportional to
    p(x) prod_j p(y_j given x). Noise that is drawn afresh averages out, so every observation costs privacy. The
    knowledge is the `Channel`. The belief is `exact`. An output that no secret produces raises an error.

    Assumes: the channel and the prior are those by which secrets were shown and drawn, and observations of one secret
    are independent.

    Fails when: secrets were drawn by another prior, so that what is realized is not what was announced; or the
    mechanism repeats one noisy answer: then several observations are worth one.

    References
    ----------
    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section IV.

    Examples
    --------
    >>> attack, channel = BayesChannelAttack(), Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> np.exp(attack(np.array([0]), channel).log_probability[:2]).round(3)
    array([0.75, 0.25])
    >>> np.exp(attack(np.array([[0, 0]]), channel).log_probability).round(3)
    array([0.9, 0.1])
    """

    def __call__(self, release: Ints, knowledge: Channel, *, rng: np.random.Generator | None = None) -> Posterior:
        """Return the belief about the secret of each target."""
        outputs = np.asarray(release)
        if outputs.ndim not in (1, 2) or outputs.size == 0:
            raise UnmaskError(
                f"the observations have shape {outputs.shape}, expected "
                "(targets,) or (targets, observations), not empty"
            )
        check_outputs(outputs, knowledge.n_y)
        return _from_single(outputs, knowledge) if outputs.ndim == 1 else _from_repeated(outputs, knowledge)


def _from_single(outputs: Ints, channel: Channel) -> Posterior:
    row_of_output = np.full(channel.n_y, -1, dtype=np.int64)
    row_of_output[channel.observed] = np.arange(len(channel.observed))
    row = row_of_output[outputs]
    if row.min() < 0:
        raise _unexplained(int(np.argmax(row < 0)))
    return replace(channel.posterior(), observation=row, weight=equal_weights(len(outputs)))


def _from_repeated(outputs: Ints, channel: Channel) -> Posterior:
    distinct, observation = np.unique(np.sort(outputs, axis=1), axis=0, return_inverse=True)
    joint, candidate, indptr = _log_joint(channel, distinct)
    top = segment_max(joint, indptr, empty=-np.inf)
    impossible = np.flatnonzero(np.isneginf(top))
    if impossible.size:
        raise _unexplained(int(np.argmax(observation.ravel() == impossible[0])))
    row = np.repeat(np.arange(len(distinct)), np.diff(indptr))
    log_p = joint - (top + np.log(segment_sum(np.exp(joint - top[row]), indptr)))[row]
    keep = log_p > MIN_LOG_PROBABILITY
    return closed_belief(
        np.bincount(row[keep], minlength=len(distinct)),
        candidate[keep].astype(np.int32),
        stored(log_p[keep]),
        channel.prior,
        observation=observation.ravel().astype(np.int64),
        provenance={"attack": "Bayes", "observations": int(outputs.shape[1])},
        candidate_label=channel.x_labels,
    )


def _log_joint(channel: Channel, outputs: Ints) -> tuple[Floats, Ints, Ints]:
    """Return log p(x) + sum_j log p(y_j given x) of the secrets that explain a row, as CSR rows (value, x, indptr)."""
    possible = np.flatnonzero(channel.prior > 0)
    by_output = csr_array(csr_array(channel.p_y_given_x)[possible].T)
    by_output.data = np.log(by_output.data) - 1.0  # below 0 even where p is 1: a sum of sparse arrays drops zeros
    counter = csr_array((np.ones(by_output.nnz), by_output.indices, by_output.indptr), shape=by_output.shape)
    n = outputs.shape[1]
    total, explained = (
        csr_array(sum((table[y] for y in outputs.T[1:]), table[outputs[:, 0]])) for table in (by_output, counter)
    )
    total.sort_indices()
    explained.sort_indices()
    explains_all = explained.data > n - 0.5
    row = np.repeat(np.arange(len(outputs)), np.diff(total.indptr))[explains_all]
    candidate = possible[total.indices[explains_all]]
    value = total.data[explains_all] + n + np.log(channel.prior[candidate])
    return value, candidate, np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(outputs)))))


def _unexplained(target: int) -> UnmaskError:
    return UnmaskError(
        f"no secret of positive prior can have produced what target {target} shows: check the channel, the prior, or "
        "that the observations belong to one target"
    )
