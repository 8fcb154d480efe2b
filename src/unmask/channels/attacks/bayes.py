"""The attacker who knows the channel: Bayes' rule for each output that was seen, and answers drawn from a belief."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from unmask.channels._matrices import Floats, Ints
from unmask.channels.channel import Channel, check_outputs, closed_belief
from unmask.core.csr_rows import segment_max, segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights, stored

NEGLIGIBLE = -80.0
"""Candidates with p(x given y) below exp(-80) are not listed: single precision ends there; together they weigh
nothing."""


@dataclass(frozen=True)
class BayesChannelAttack:
    """Which secret produced each output: p(x given y) = p(x) p(y given x) / p(y), for the outputs that were observed.

    Called with outputs (n_targets,), one of each target, or (n_targets, n_observations), several outputs of the *same*
    secret that the mechanism drew independently: p(x given y_1..y_m) is proportional to p(x) prod_j p(y_j given x).
    Noise that is drawn afresh each time averages out, so every observation costs privacy. The knowledge is the channel:
    the mechanism is public (Kerckhoffs), so the belief is `exact` if its prior is the one that the secrets were drawn
    from. Targets of equal weight. What no secret can have produced is refused, by target number.

    Assumes: the channel and the prior are those by which secrets were shown and drawn, and observations of one secret
    are independent.

    Fails when: secrets were drawn by another prior, so that what is realized is not what was announced; or the
    mechanism repeats one noisy answer: then several observations tell what one tells.

    >>> attack, channel = BayesChannelAttack(), Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> np.exp(attack(np.array([0]), channel).log_probability[:2]).round(3)
    array([0.75, 0.25])
    >>> np.exp(attack(np.array([[0, 0]]), channel).log_probability).round(3)
    array([0.9, 0.1])

    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section IV.
    """

    def __call__(self, release: Ints, knowledge: Channel, *, rng: np.random.Generator | None = None) -> Posterior:
        """The belief about the secret behind each target."""
        seen = np.asarray(release)
        if seen.ndim not in (1, 2) or seen.size == 0:
            raise UnmaskError(
                f"the observations have shape {seen.shape}, expected (targets,) or (targets, observations), not empty"
            )
        check_outputs(seen, knowledge.n_y)
        return _of_one(seen, knowledge) if seen.ndim == 1 else _of_several(seen, knowledge)


def _of_one(seen: Ints, channel: Channel) -> Posterior:
    row_of_output = np.full(channel.n_y, -1, dtype=np.int64)
    row_of_output[channel.observed] = np.arange(len(channel.observed))
    row = row_of_output[seen]
    if row.min() < 0:
        raise _unexplained(int(np.argmax(row < 0)))
    return replace(channel.posterior(), observation=row, weight=equal_weights(len(seen)))


def _of_several(seen: Ints, channel: Channel) -> Posterior:
    distinct, observation = np.unique(np.sort(seen, axis=1), axis=0, return_inverse=True)
    joint, candidate, indptr = _log_joint(channel, distinct)
    top = segment_max(joint, indptr, empty=-np.inf)
    impossible = np.flatnonzero(np.isneginf(top))
    if impossible.size:
        raise _unexplained(int(np.argmax(observation.ravel() == impossible[0])))
    row = np.repeat(np.arange(len(distinct)), np.diff(indptr))
    log_p = joint - (top + np.log(segment_sum(np.exp(joint - top[row]), indptr)))[row]
    keep = log_p > NEGLIGIBLE
    return closed_belief(
        np.bincount(row[keep], minlength=len(distinct)),
        candidate[keep].astype(np.int32),
        stored(log_p[keep]),
        channel.prior,
        observation=observation.ravel().astype(np.int64),
        provenance={"attack": "Bayes", "observations": int(seen.shape[1])},
        candidate_label=channel.x_labels,
    )


def draw_answers(belief: Posterior, *, rng: np.random.Generator) -> Ints:
    """One answer for each target, drawn from what is believed of it: the Gibbs attacker. -1 is "none of the listed".

    Their expected error sum_x p(x given y) d(x', x), x' ~ p(. given y), is the "correctness" of the Location-Privacy
    Meter. For a metric it lies between the Bayes risk and twice that; for squared error it is twice exactly. The belief
    holds all that can be measured of them; draw only where an answer itself is needed. Returns (n_targets,).

    >>> belief = Posterior.from_dense(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> draw_answers(belief, rng=np.random.default_rng(0))
    array([1, 0])

    R. Shokri et al., "Quantifying location privacy", S&P 2011, section V.
    """
    cumulative = np.concatenate(([0.0], np.cumsum(np.exp(belief.log_probability, dtype=np.float64))))
    start, end = belief.indptr[belief.observation], belief.indptr[belief.observation + 1]
    listed = cumulative[end] - cumulative[start]
    total = listed + belief.unlisted[belief.observation]
    drawn = rng.random(belief.n_targets) * total
    entry = np.searchsorted(cumulative, cumulative[start] + drawn, side="right") - 1
    entry = np.clip(entry, start, np.maximum(end - 1, start))
    answer = np.full(belief.n_targets, -1, dtype=np.int64)
    some = drawn < listed
    answer[some] = belief.candidate[entry[some]]
    return answer


def _log_joint(channel: Channel, seen: Ints) -> tuple[Floats, Ints, Ints]:
    """Entries log p(x) + sum_j log p(y_j given x) of the secrets that explain all observations of a row, as CSR
    rows (value, x, indptr).
    """
    possible = np.flatnonzero(channel.prior > 0)
    by_output = csr_array(csr_array(channel.p_y_given_x)[possible].T)
    by_output.data = np.log(by_output.data) - 1.0  # below 0 even where p is 1: a sum of sparse arrays drops zeros
    counted = csr_array((np.ones(by_output.nnz), by_output.indices, by_output.indptr), shape=by_output.shape)
    n = seen.shape[1]
    total, explained = (
        csr_array(sum((table[y] for y in seen.T[1:]), table[seen[:, 0]])) for table in (by_output, counted)
    )
    total.sort_indices()
    explained.sort_indices()
    everywhere = explained.data > n - 0.5
    row = np.repeat(np.arange(len(seen)), np.diff(total.indptr))[everywhere]
    candidate = possible[total.indices[everywhere]]
    value = total.data[everywhere] + n + np.log(channel.prior[candidate])
    return value, candidate, np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(seen)))))


def _unexplained(target: int) -> UnmaskError:
    return UnmaskError(
        f"no secret of positive prior can have produced what target {target} shows: check the channel, the prior, or "
        "that the observations belong to one target"
    )
