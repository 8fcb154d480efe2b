"""Leakage estimated from samples, against systems whose leakage is known."""

import numpy as np
import pytest

from unmask.channels.channel import Channel
from unmask.channels.criteria import counted_information


def test_c9_independent_samples_do_not_leak():
    rng = np.random.default_rng(0)
    counts = np.bincount(rng.integers(2500, size=5000), minlength=2500).reshape(50, 50)
    result = counted_information(counts, rng=rng)
    assert result.counted > 0.35  # what the shares of the counts say
    assert result.counted == pytest.approx(Channel.from_counts(counts).mutual_information(), abs=1e-9)
    assert result.corrected < 0.02
    assert result.p_value > 0.05


def test_c9_the_test_that_nothing_leaks_keeps_its_level_and_finds_what_leaks():
    rng = np.random.default_rng(1)
    refused = [
        counted_information(
            np.bincount(rng.integers(64, size=100), minlength=64).reshape(8, 8), rng=rng, permutations=39
        ).p_value
        for _ in range(400)
    ]
    assert 0.02 < np.mean(np.array(refused) <= 0.05) < 0.08  # 5 %, standard deviation 1.1 %
    x = rng.integers(8, size=4000)
    y = np.where(rng.random(4000) < 0.2, x, rng.integers(8, size=4000))
    leaks = counted_information(np.bincount(8 * x + y, minlength=64).reshape(8, 8), rng=rng)
    table = 0.2 * np.eye(8) + 0.8 / 8
    assert leaks.corrected < Channel(table).mutual_information() * 1.15
    assert leaks.corrected == pytest.approx(Channel(table).mutual_information(), abs=0.03)
    assert leaks.p_value == pytest.approx(1 / 200)
