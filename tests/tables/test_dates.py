"""Dates and moments: what is read, what a release writes, and that both agree."""

import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.tables.dates import DAYS, MOMENTS, PERIODS, iso
from unmask.tables.scales import NUMBERS

EPOCH = date(1970, 1, 1)
days = st.dates(date(1, 1, 1), date(9999, 12, 31)).map(lambda day: float((day - EPOCH).days))
moments = st.builds(
    lambda day, micros: float(day * 86_400) + round(micros / 1e6, 6),
    st.integers(-99_999, 99_999),
    st.integers(0, 86_400 * 10**6 - 1),
)


def day(text):
    return float((date.fromisoformat(text) - EPOCH).days)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2024-03-05", "2024-03-05", "2024-03-05"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2024-Q4", "2024-10-01", "2024-12-31"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("[2019-11, 2020-02]", "2019-11-01", "2020-02-29"),
        ("[1931, 1950]", "1931-01-01", "1950-12-31"),
        ("[1931, 1950)", "1931-01-01", "1949-12-31"),
        ("(1931, 1950]", "1932-01-01", "1950-12-31"),
        ("1931-1950", "1931-01-01", "1950-12-31"),
        ("2019-11 \u2013 2020-02", "2019-11-01", "2020-02-29"),
        ("2019-11-05..2020-Q1", "2019-11-05", "2020-03-31"),
    ],
)
def test_notations_of_dates(text, low, high):
    assert DAYS.read(text) == (day(low), day(high))


@pytest.mark.parametrize(
    ("text", "low", "high"), [("<2020", -math.inf, "2019-12-31"), (">=1931-05", "1931-05-01", math.inf)]
)
def test_open_dates(text, low, high):
    assert DAYS.read(text) == tuple(day(end) if isinstance(end, str) else end for end in (low, high))
    assert DAYS.write(*DAYS.read(text)) == text.replace("<2020", "<=2019")


@pytest.mark.parametrize(
    "text",
    ["2023-02-30", "2024-13", "2024-Q5", "0000", "24-03-05", "05.03.2024", "2024-3-5", "2024-03-05 10:15", "1950-1931"],
)
def test_other_text_is_not_a_date(text):
    assert DAYS.read(text) is None


@pytest.mark.parametrize(
    ("text", "order", "read"),
    [
        ("05.03.1970", "month-first", "1970-03-05"),  # dots are day-first, whatever the order
        ("5/3/1970", "day-first", "1970-03-05"),
        ("5-3-1970", "month-first", "1970-05-03"),
        ("1970/03/05", "month-first", "1970-03-05"),
        ("[05.03.1970, 7.3.1970]", "day-first", "[1970-03-05, 1970-03-07]"),
        ("05.03.70", "day-first", "05.03.70"),  # two digits of a year are never guessed
        ("5.3.1970 9:05", "day-first", "1970-03-05 09:05"),
        ("1970-03-05T23:30:00.5-01:30", "day-first", "1970-03-06 01:00:00.5"),
    ],
)
def test_other_notations_of_a_day(text, order, read):
    assert iso(text, order) == read


@pytest.mark.parametrize(
    ("first", "last", "written"),
    [
        ("2024-03-05", "2024-03-05", "2024-03-05"),
        ("2024-03-05", "2024-03-06", "2024-03"),
        ("2024-01-31", "2024-03-01", "2024-Q1"),
        ("2024-03-31", "2024-04-01", "2024"),
        ("2019-11-05", "2020-02-07", "[2019-11, 2020-02]"),
        ("2019-01-05", "2020-12-07", "[2019, 2020]"),
        ("2019-02-05", "2021-01-07", "[2019-02, 2021-01]"),  # 24 months
        ("2019-01-05", "2021-01-07", "[2019, 2021]"),  # 25
        ("1931-05-01", "1950-02-03", "[1931, 1950]"),
    ],
)
def test_a_release_writes_dates_as_a_person_would(first, last, written):  # U4, U5
    assert DAYS.cover(day(first), day(last)) == written


@given(days, days)
def test_cells_of_dates_read_back_and_hold_what_they_cover(first, second):
    low, high = min(first, second), max(first, second)
    assert DAYS.read(DAYS.write(low, high)) == (low, high)
    from_, to = DAYS.read(DAYS.cover(low, high))
    assert from_ <= low
    assert high <= to


@given(days, days)
def test_no_end_of_an_interval_is_the_date_of_a_person(first, second):  # U4
    low, high = min(first, second), max(first, second)
    text = DAYS.cover(low, high)
    assert (low == high) == (len(text) == 10 and text[0] != "[")
    assert all(len(part) <= 7 for part in text.strip("[]").split(", ")) or low == high


@given(moments, moments)
def test_cells_of_moments_read_back_and_hold_what_they_cover(first, second):
    low, high = min(first, second), max(first, second)
    for text in (MOMENTS.write(low, high), MOMENTS.cover(low, high)):
        from_, to = MOMENTS.read(text)
        assert from_ <= low <= high <= to
    assert MOMENTS.read(MOMENTS.write(low, high)) == (low, high)


@given(moments, st.sampled_from(PERIODS))
def test_periods_of_moments_end_just_before_the_next(moment, unit):
    low, high = MOMENTS.period(moment, unit)
    assert MOMENTS.read(MOMENTS.write(low, high)) == (low, high)
    assert MOMENTS.period(math.nextafter(high, math.inf), unit)[0] == math.nextafter(high, math.inf)


def test_moments_have_seconds_and_fractions():
    moment = MOMENTS.read("1970-01-02T00:00:01.25")
    assert moment == (86_401.25, 86_401.25)
    assert MOMENTS.write(*moment) == "1970-01-02 00:00:01.25"
    assert MOMENTS.read("[1970-01-01 10:15, 1970-01-01 11:30)") == (36_900, math.nextafter(41_400, 0))
    assert MOMENTS.write(36_900, math.nextafter(41_400, 0)) == "[1970-01-01 10:15, 1970-01-01 11:30)"
    assert MOMENTS.read("1970-01-01 24:00") is None
    assert MOMENTS.cover(36_900, 41_400) == "1970-01-01"


def test_years_are_numbers_on_the_scale_of_numbers_only():
    assert NUMBERS.read("1931") == (1931, 1931)
    assert DAYS.read("1931") == (day("1931-01-01"), day("1931-12-31"))
    assert date(1970, 1, 1) + timedelta(days=DAYS.read("1931")[0]) == date(1931, 1, 1)
