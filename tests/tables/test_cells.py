import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.core.errors import UnmaskError
from unmask.tables.cells import plain_levels, read_levels
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.matching import compatible
from unmask.tables.notation import format_set
from unmask.tables.scales import NUMBERS
from unmask.tables.table import Table


def parse_levels(texts, **meaning):
    """Return the levels of texts, in the order of the texts."""
    levels, codes = read_levels(texts, **meaning)
    return levels.select(codes)


INF = math.inf
BELOW_30 = math.nextafter(30, 0)
ABOVE_20 = math.nextafter(20, 30)
AGES = Hierarchy.from_paths([(str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "Any") for a in range(40)])
JOBS = Hierarchy.from_paths([("cook", "service", "*"), ("nurse", "care", "*"), ("waiter", "service", "*")])

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64).map(
    lambda x: x if x.is_integer() else float(f"{x:.15g}")  # what is read has at most 15 digits
)
ends = st.one_of(numbers, st.integers(-1000, 1000).map(float), st.sampled_from([INF, -INF]))
texts = st.text(st.sampled_from("ab1 -,;{}[]\"'|~*\n\u00e9<>"), min_size=1, max_size=6).map(str.strip).filter(bool)


# --- intervals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("25", 25, 25),
        ("-3.5", -3.5, -3.5),
        ("1e-5", 1e-5, 1e-5),
        ("[20, 30]", 20, 30),
        ("[20,30)", 20, BELOW_30),
        ("(20, 30]", ABOVE_20, 30),
        ("[20, 30[", 20, BELOW_30),
        ("]20, 30]", ABOVE_20, 30),
        ("]20, 30[", ABOVE_20, BELOW_30),
        ("20-30", 20, 30),
        ("20 - 30", 20, 30),
        ("-5--1", -5, -1),
        ("-5-1", -5, 1),
        ("20..30", 20, 30),
        ("20\u201330", 20, 30),
        ("<30", -INF, BELOW_30),
        ("<=20", -INF, 20),
        ("\u226420", -INF, 20),
        (">=30", 30, INF),
        (">20", ABOVE_20, INF),
        ("20+", 20, INF),
        ("(-inf, 20]", -INF, 20),
        ("*", -INF, INF),
    ],
)
def test_notations_of_intervals(text, low, high):
    assert NUMBERS.read(text) == (low, high)


@pytest.mark.parametrize(
    "text", ["30-20", "(20, 20)", "20-", "a-b", "1,2", "", "[20; 30", "1_000", "1e999", "nan", "inf", "2020-01-01"]
)
def test_other_text_is_not_an_interval(text):
    assert NUMBERS.read(text) is None


@given(ends, ends)
def test_intervals_read_back_as_they_were(first, second):
    low, high = min(first, second) + 0.0, max(first, second) + 0.0
    if low == INF or high == -INF:
        with pytest.raises(UnmaskError):
            NUMBERS.write(low, high)
    else:
        assert NUMBERS.read(NUMBERS.write(low, high)) == (low, high)


@given(numbers, numbers, st.booleans(), st.booleans())
def test_open_ends_read_back_as_they_were(first, second, open_low, open_high):
    low, high = min(first, second), max(first, second)
    low = math.nextafter(low, INF) if open_low else low
    high = math.nextafter(high, -INF) if open_high else high
    if low <= high:
        assert NUMBERS.read(NUMBERS.write(low, high)) == (low, high)


def test_interval_labels_are_canonical():
    assert NUMBERS.write(20, 20) == "20"
    assert NUMBERS.write(-0.0, 0.5) == "[0, 0.5]"
    assert NUMBERS.write(ABOVE_20, BELOW_30) == "(20, 30)"
    assert NUMBERS.write(-INF, BELOW_30) == "<30"
    assert NUMBERS.write(-INF, INF) == "*"
    with pytest.raises(UnmaskError, match="low <= high"):
        NUMBERS.write(2, 1)
    with pytest.raises(UnmaskError, match="low <= high"):
        NUMBERS.write(math.nan, 1)


# --- sets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ({"types": {"age": "nunber"}}, "the type of column 'age' is 'nunber', did you mean 'number'"),
        ({"types": {"age": "text:day-first"}}, "expected text alone, date:day-first or date:month-first"),
        (
            {"types": {"age": "ordinal"}, "orders": {"age": "abc"}},
            "the order of column 'age' is 'abc', expected a list",
        ),
        ({"orders": {"age": 3}}, "the order of column 'age' is 3, expected a list"),
    ],
)
def test_an_unknown_type_or_order_is_refused(text, message):
    with pytest.raises(UnmaskError, match=message):
        Table.read({"age": ["1", "2"]}, quasi_identifiers="age", **text)


@given(st.sets(texts, min_size=1, max_size=4))
def test_sets_read_back_as_they_were(values):
    label = format_set(values)
    levels = parse_levels([label], as_type="text", column="c")
    covered = {
        value for value, inside in zip(levels.domain, levels.members.to_scipy().toarray()[0], strict=True) if inside
    }
    assert covered == values


@given(st.lists(st.one_of(texts, st.sets(texts, min_size=1, max_size=3).map(format_set)), min_size=1, max_size=6))
def test_labels_of_a_column_read_back_as_the_same_levels(cells):
    levels, _ = read_levels(cells, as_type="text", column="c")
    again, code = read_levels(levels.labels, as_type="text", column="c")
    assert again.labels == levels.labels
    assert code.tolist() == list(range(len(levels)))
    assert again.domain == levels.domain
    assert (again.members.to_scipy() != levels.members.to_scipy()).nnz == 0


def test_sets_are_sorted_and_quoted():
    assert format_set(["b", "a", "b"]) == "{a, b}"
    assert format_set(["a"]) == "a"
    assert format_set(['say "x"', "p, q"]) == '{"p, q", "say ""x"""}'
    assert format_set(["C*"]) == '{"C*"}'
    for values in ([], ["a", ""]):
        with pytest.raises(UnmaskError, match="at least one value"):
            format_set(values)


@pytest.mark.parametrize("text", ["{b, a}", "{a,b}", "a,b", "a, b", "b|a", "a~b"])
def test_notations_of_sets(text):
    levels = parse_levels(["a", "b", "c", text], as_type="text", column="c", known_labels=["a", "b", "c"])
    assert levels.labels[3] == "{a, b}"
    assert levels.members.to_scipy().toarray()[3].tolist() == [True, True, False]


@pytest.mark.parametrize("text", [(), ("John", "Smith", "Smith, John")])
def test_a_category_with_a_comma_is_itself_although_its_parts_are_values(text):  # T13
    levels = parse_levels(["Smith", "John", "Smith, John"], as_type="text", column="c", known_labels=text)
    assert levels.labels == ("Smith", "John", "Smith, John")
    assert levels.atomic.all()


def test_a_bare_set_is_one_where_its_parts_are_known_from_elsewhere():
    levels = parse_levels(["a,b"], as_type="text", column="c", known_labels=["a", "b"])
    assert (levels.labels, levels.domain) == (("{a, b}",), ("a", "b"))


def test_parts_of_sets_join_the_domain():
    assert parse_levels(["{x, y}", "a"], as_type="text", column="c").domain == ("a", "x", "y")


def test_a_quoted_star_is_a_value_and_a_bare_one_is_everything():
    levels = parse_levels(['{"*"}', "*", "b"], as_type="text", column="c")
    assert levels.labels == ('{"*"}', "*", "b")
    assert levels.members.to_scipy().toarray().tolist() == [[True, False], [True, True], [False, True]]


def test_a_star_hides_at_most_one_character():
    levels = parse_levels(["12345", "1239", "99999", "123456", "123**", "*****"], as_type="code", column="zip")
    assert levels.domain == ("12345", "123456", "1239", "99999")
    assert levels.members.to_scipy().toarray()[4].tolist() == [True, False, True, False]
    assert levels.labels[4:] == ("123**", "*")
    assert levels.atomic.tolist() == [True] * 4 + [False] * 2


def test_a_mask_is_not_exact_although_only_one_value_fits():
    assert parse_levels(["12345", "1234*"], as_type="text", column="zip").atomic.tolist() == [True, False]


# --- hierarchies and orders ---------------------------------------------------------------------------------------


def test_nodes_stand_for_their_leaves():
    levels = parse_levels(["cook", "service", "*", "{cook, care}"], as_type="text", column="job", hierarchy=JOBS)
    assert levels.domain == JOBS.leaves
    assert levels.labels == ("cook", "service", "*", "{cook, nurse}")
    expected = [[True, False, False], [True, False, True], [True, True, True], [True, True, False]]
    assert levels.members.to_scipy().toarray().tolist() == expected


def test_one_set_has_one_label_however_it_is_written():
    levels = parse_levels(
        ["{waiter, cook}", "care", "{cook, nurse, waiter}"], as_type="text", column="job", hierarchy=JOBS
    )
    assert levels.labels == ("service", "nurse", "*")


def test_a_hierarchy_of_numbers_reads_nodes_first_and_then_intervals():
    levels = parse_levels(["25", "20-29", "Any", "18-21", "[30, 40)"], as_type="text", column="age", hierarchy=AGES)
    assert levels.kind == "categorical"
    assert levels.labels[:3] == ("25", "20-29", "*")
    assert levels.covered(3).tolist() == [18, 19, 20, 21]
    assert levels.labels[4] == "30-39"


def test_a_hierarchy_of_a_numeric_column_gives_bounds():
    decades = Hierarchy.from_paths([("21", "twenties"), ("28", "twenties"), ("30", "thirties")])
    levels = parse_levels(["twenties", "30", "[5, 7]"], as_type="number", column="age", hierarchy=decades)
    assert levels.low.tolist() == [21, 30, 5]
    assert levels.high.tolist() == [28, 30, 7]


def test_absent_from_the_hierarchy_names_column_and_cells_but_no_content():
    with pytest.raises(UnmaskError, match=r"'job' has values that are not in its hierarchy .2 distinct") as caught:
        parse_levels(["cook", "spy", "poet"], as_type="text", column="job", hierarchy=JOBS)
    assert "spy" not in str(caught.value)


def test_ordinal_levels_keep_the_order_and_read_ranges():
    order = ["low", "mid", "high"]
    levels, code = read_levels(["high", "[low, mid]", "low", None, "*"], as_type="ordinal", column="pay", order=order)
    assert levels.kind == "ordinal"
    assert levels.domain == tuple(order)
    assert levels.labels == ("low", "high", "{low, mid}", "*", "")
    assert code.tolist() == [1, 2, 0, 4, 3]
    with pytest.raises(UnmaskError, match=r"not in its order .1 distinct"):
        parse_levels(["lower"], as_type="ordinal", column="pay", order=order)
    with pytest.raises(UnmaskError, match="are repeated, empty or"):
        parse_levels(["low"], as_type="ordinal", column="pay", order=["low", "low"])


def test_a_hierarchy_follows_a_given_order():
    order = ["waiter", "cook", "nurse"]
    levels = parse_levels(["service"], as_type="ordinal", column="job", order=order, hierarchy=JOBS)
    assert levels.domain == tuple(order)
    assert levels.members.to_scipy().toarray().tolist() == [[True, True, False]]


def test_ordinal_without_order_needs_numbers():
    assert parse_levels(["10", "9"], as_type="ordinal", column="size").domain == ("9", "10")
    with pytest.raises(UnmaskError, match="declare their order"):
        parse_levels(["big"], as_type="ordinal", column="size")


# --- levels -------------------------------------------------------------------------------------------------------


def test_declared_numeric_counts_what_is_not():
    with pytest.raises(
        UnmaskError, match=r"number column 'age' has values that are neither a number nor an interval .2 distinct"
    ) as caught:
        parse_levels(["1", "old", "older"], as_type="number", column="age")
    assert "old" not in str(caught.value)


def test_numeric_levels_ascend_and_merge():
    levels, code = read_levels(["30", "20-30", None, "20.0", "[20, 30]", "*", "20"], as_type="number", column="age")
    assert levels.labels == ("*", "20", "[20, 30]", "30", "")
    assert code.tolist() == [3, 2, 4, 1, 2, 0, 1]
    assert levels.missing == 4
    assert np.isnan(levels.low[4])
    assert levels.atomic.tolist() == [False, True, False, True, False]


@given(st.permutations(["b", "{a, b}", "a", "*", None, "c|a", "c", "12*"]))
def test_levels_do_not_depend_on_the_order_of_the_texts(cells):
    levels, code = read_levels(cells, as_type="text", column="c", known_labels=["a", "c"])
    assert levels.labels == ("a", "b", "c", "12*", "{a, b}", "{a, c}", "*", "")
    assert [levels.labels[index] for index in code] == [{"c|a": "{a, c}", None: ""}.get(cell, cell) for cell in cells]


def test_missing_covers_nothing_and_everything_covers_all():
    levels = parse_levels(["", "*", "a", "b"], as_type="text", column="c")
    assert levels.missing == 0
    assert levels.members.to_scipy().toarray().tolist() == [[False, False], [True, True], [True, False], [False, True]]


def test_select_keeps_domain_and_finds_missing():
    levels = parse_levels(["b", None, "a"], as_type="text", column="c").select([2, 1])
    assert levels.labels == ("a", "")
    assert levels.missing == 1
    assert levels.members.to_scipy().toarray().tolist() == [[True, False], [False, False]]


def test_a_million_exact_values_need_no_matrix():
    texts = [f"id{index}" for index in range(200_000)] + [None]
    levels, code = plain_levels(texts)
    assert levels.members.shape == (200_001, 200_000)
    assert len(levels.members.data) == 200_000
    index = code[777]
    assert levels.covered(index).tolist() == [levels.domain.index("id777")]
    assert not levels.covered(levels.missing).size


# --- matching -----------------------------------------------------------------------------------------------------


def levels_of(*cells, as_type="text", **options):
    return parse_levels(cells, as_type=as_type, column="c", **options)


@given(
    st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=4),
    st.lists(st.sets(st.integers(3, 8), min_size=1, max_size=4), min_size=1, max_size=4),
)
def test_sets_match_when_they_intersect(left_sets, right_sets):
    def column(sets):
        return levels_of(*[format_set(f"v{index}" for index in values) for values in sets], as_type="text")

    expected = [[bool(left_set & right_set) for right_set in right_sets] for left_set in left_sets]
    assert compatible(column(left_sets), column(right_sets), missing="own").tolist() == expected


def test_intervals_match_when_they_overlap():
    known_levels = levels_of("20", "30", "[29, 31]", "*", as_type="number")
    released = levels_of("[20, 30)", "30+", "*", as_type="number")
    expected = [[True, False, True], [False, True, True], [True, True, True], [True, True, True]]
    assert compatible(known_levels, released, missing="own").tolist() == expected


def test_a_value_unknown_to_the_other_side_matches_only_everything():
    known_levels, released = levels_of("a", "z"), levels_of("a", "{a, b}", "*", as_type="text")
    expected = [[True, True, True], [False, False, True]]
    assert compatible(known_levels, released, missing="own").tolist() == expected
    assert compatible(released, known_levels, missing="own").tolist() == np.transpose(expected).tolist()


def test_masks_match_values_that_only_the_other_side_has():
    known_levels = levels_of("27501", "27612", "2750", "27", "2761*", as_type="code")
    released = levels_of("275**", "276**", "*****", as_type="code")
    expected = [
        [True, False, True],
        [False, True, True],
        [True, False, True],
        [False, False, True],
        [False, True, True],
    ]
    assert compatible(known_levels, released, missing="own").tolist() == expected


def test_numbers_match_categories_and_masks_of_numbers():
    assert compatible(levels_of("27501", "28000", as_type="number"), levels_of("275**"), missing="own").tolist() == [
        [True],
        [False],
    ]
    ages = levels_of("20-29", "35", hierarchy=AGES)
    assert compatible(levels_of("25", "[34, 36]", as_type="number"), ages, missing="own").tolist() == [
        [True, False],
        [False, True],
    ]
    assert compatible(ages, levels_of("25", "35", as_type="number"), missing="own").tolist() == [
        [True, False],
        [False, True],
    ]


def test_nodes_of_different_hierarchies_match_by_leaf():
    other_tree = Hierarchy.from_paths([("waiter", "evening"), ("nurse", "day"), ("pilot", "day")])
    match = compatible(
        levels_of("service", "care", hierarchy=JOBS), levels_of("evening", "day", hierarchy=other_tree), missing="own"
    )
    assert match.tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize("as_type", ["number", "date", "text"])
def test_missing_cells(as_type):
    known_levels, released = levels_of("2001", None, as_type=as_type), levels_of("2001", None, "*", as_type=as_type)
    for missing in ("own", "excluded"):
        assert compatible(known_levels, released, missing=missing).tolist() == [
            [True, False, True],
            [False, True, True],
        ]
    assert compatible(known_levels, released, missing="wildcard").all()
