"""Many intervals are written as one after the other is, and words of tables for people are intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.tables.dates import DAYS
from unmask.tables.scales import NUMBERS

ENDS = st.one_of(
    st.integers(-50, 50).map(float), st.sampled_from([-0.0, -math.inf, math.inf, 1e15, -3e15, 0.1, 20.000000000000004])
)


@pytest.mark.parametrize("scale", [NUMBERS, DAYS], ids=["numbers", "days"])
@given(drawn=st.lists(st.tuples(ENDS, ENDS), max_size=8))
def test_many_intervals_are_written_as_each_alone(scale, drawn):
    ends = [(min(pair), max(pair)) for pair in drawn]
    if scale is DAYS:
        ends = [(np.floor(low), np.floor(high)) for low, high in ends if abs(low) < 100 and abs(high) < 100]
    ends = [(low, high) for low, high in ends if low != math.inf and high != -math.inf]
    lows, highs = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    assert scale.covers(lows, highs) == [scale.cover(low, high) for low, high in ends]


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("20 to 24", "20-24"),
        ("20 TO 24.5", "20-24.5"),
        ("under 5", "<5"),
        ("Over 64", ">64"),
        ("65 and over", "65+"),
        ("65 and older", "65+"),
        ("65 or more", "65+"),
    ],
)
def test_words_say_what_signs_say(words, written):
    assert NUMBERS.read(words) == NUMBERS.read(written) is not None


@pytest.mark.parametrize("words", ["20to24", "to 5", "2 to", "overt 5", "65 and", "over", "5 or 6", "under"])
def test_other_words_are_no_interval(words):
    assert NUMBERS.read(words) is None
