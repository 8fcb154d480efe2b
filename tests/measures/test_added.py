"""What a record added: means, errors and quantiles against their definitions, and the ceilings of epsilon."""

import numpy as np
import pytest

from unmask import Posterior, Truth, UnmaskError
from unmask.measures.added import Added, belief_in_truth, most_added


def test_belief_in_the_truth_against_the_matrix():
    dense = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    belief = Posterior.from_dense(dense)
    assert belief_in_truth.per_target(belief, Truth([1, 1])) == pytest.approx([0.5, 0.0], abs=1e-12)
    assert belief_in_truth(belief, Truth([1, 0])) == pytest.approx(0.75)


def test_runs_against_a_loop():
    rng = np.random.default_rng(0)
    value, out = rng.random((12, 5)), np.arange(60).reshape(12, 5) % 3 == 1
    out[:, 4] = False  # never left out
    found = Added.of(value, out, np.arange(5))
    for t in range(4):
        with_it, without = value[~out[:, t], t], value[out[:, t], t]
        assert found.each[t] == pytest.approx(with_it.mean() - without.mean())
        error = np.sqrt(with_it.var(ddof=1) / len(with_it) + without.var(ddof=1) / len(without))
        assert found.error[t] == pytest.approx(error)
    assert np.isnan(found.each[4])
    assert 4 not in found.worst(5)
    row = found.row(release="r", adversary="a", target="ill")
    assert row.posterior == pytest.approx(np.mean(found.each[:4]))
    assert (row.n, row.worst, row.measure, row.target) == (4, max(found.each[:4]), "added", "ill")


def test_people_of_one_box_are_one_piece_of_luck():
    each = np.repeat([0.0, 0.4, 0.1, 0.3], 25)
    zero, alone = np.zeros(100), None
    widths = [
        np.diff(Added(each, zero, zero, np.arange(100), cluster).mean()[1][:2])[0]
        for cluster in (alone, np.repeat(np.arange(4), 25))
    ]
    assert widths[1] > 4 * widths[0]


def test_what_nobody_has_is_refused():
    with pytest.raises(UnmaskError, match="0 people"):
        Added.of(np.ones((2, 3)), np.zeros((2, 3), dtype=bool), np.arange(3)).mean()
    with pytest.raises(UnmaskError, match="runs"):
        Added.of(np.ones((2, 3)), np.zeros((2, 4), dtype=bool), np.arange(3))
    with pytest.raises(UnmaskError, match="at least 0"):
        most_added(-1)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0])
def test_no_adversary_exceeds_the_ceiling_of_a_private_count(epsilon):
    """Counts of the ill and the healthy with geometric noise, every outcome enumerated; the person is ill."""
    noise = np.arange(-200, 201)
    mass = np.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(noise))

    def mean(belief, ill, healthy):
        """E of a belief over the two noisy counts of those ill and healthy among the others, and the person or not."""
        seen = belief(ill + noise[:, None], healthy + noise[None, :])
        return mass @ np.broadcast_to(seen, (401, 401)) @ mass

    def bayes(a, b):  # others known to be 3 and 5: is the person one of the ill, or one of the healthy?
        log_odds = epsilon * (np.abs(a - 3) - np.abs(a - 4) - np.abs(b - 5) + np.abs(b - 6))
        return 1 / (1 + np.exp(-log_odds))

    def surest(a, _):
        return 1.0 * (a >= 4)

    for belief in (bayes, surest, lambda a, b: np.clip(a / np.maximum(a + b, 1), 0, 1)):
        inside, outside = mean(belief, 4, 5), mean(belief, 3, 5)
        assert inside - outside <= most_added(epsilon, inside) + 1e-9
    added = mean(surest, 4, 5) - mean(surest, 3, 5)
    assert added == pytest.approx(np.tanh(epsilon / 2), rel=1e-6)  # the ceiling is reached: no smaller one would do
    assert added > most_added(0.9 * epsilon)  # and a protection that promised less noise than this is found out
