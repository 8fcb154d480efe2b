"""Automatic hierarchies, and edits of groups, names and levels."""

from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from unmask.core.errors import UnmaskError
from unmask.tables import Generalize, Hierarchy, Table
from unmask.tables import hierarchy_editing as editing
from unmask.tables.column import Column


def read_columns(cells: list[str | None], **options: object) -> tuple[Column, Column]:
    """Return a column as texts, and with its own type."""
    texts = Table.read({"x": cells}, quasi_identifiers="x", types={"x": "text"})
    typed = Table.read({"x": cells}, quasi_identifiers="x", **options)
    return texts.quasi_identifiers[0], typed.quasi_identifiers[0]


def groups(hierarchy: Hierarchy, level: int) -> dict[str, str]:
    return dict(zip(hierarchy.leaves, hierarchy.ancestor[level], strict=True))


def test_intervals_begin_at_the_origin_and_are_computed_in_decimals():
    columns = read_columns(["0.3", "0.1", "0.12", "0.29", "7", None])
    tree = editing.start_intervals(*columns, widths=[0.1, 0.5], origin=0.1)
    tenths = {"0.1": "[0.1, 0.2)", "0.12": "[0.1, 0.2)", "0.29": "[0.2, 0.3)", "0.3": "[0.3, 0.4)", "7": "[7, 7.1)"}
    assert groups(tree, 1) == tenths
    assert groups(tree, 2) == dict.fromkeys(tenths, "[0.1, 0.6)") | {"7": "[6.6, 7.1)"}
    assert set(tree.ancestor[-1]) == {"*"}


def test_leaves_of_intervals_are_the_texts_of_the_file():
    tree = editing.start_intervals(*read_columns(["1.234,50", "2,0", "2,00", "-"], decimal=","), widths=[1000])
    assert tree.leaves == ("2,0", "2,00", "1.234,50", "-")  # by number
    assert groups(tree, 1) == {"-": "-", "1.234,50": "[1000, 2000)", "2,0": "[0, 1000)", "2,00": "[0, 1000)"}


@pytest.mark.parametrize("widths", [[], [0], [-5], [5, 7], [10, 5], [5, 5]])
def test_widths_that_do_not_nest_are_refused(widths: list[float]):
    with pytest.raises(UnmaskError, match="multiple of the one before"):
        editing.start_intervals(*read_columns(["20", "31"]), widths=widths)


def test_dates_are_grouped_by_period_and_codes_by_prefix():
    dates = editing.start_parts(*read_columns(["03.01.1980", "04.01.1980", "05.06.1981", "06.01.1992"]))
    assert [len(set(labels)) for labels in dates.ancestor] == [4, 3, 2, 1]  # months, decades: no year joins two months
    codes = editing.start_parts(*read_columns(["01001", "01002", "01101"], types={"x": "code"}))
    assert groups(codes, 1) == {"01001": "0100*", "01002": "0100*", "01101": "0110*"}


def test_automatic_groups_equal_those_of_generalize():
    cells = [str(20 + 7 * n % 60) for n in range(60)]
    texts, typed = read_columns(cells)
    tree = editing.start_intervals(texts, typed, widths=[5])
    release, origin = Generalize({"x": 5})(Table.read({"x": cells}, quasi_identifiers="x"))
    assert [groups(tree, 1)[cells[row]] for row in origin] == release["x"].tolist()


def test_every_alphabetical_group_has_enough_rows():
    texts, _ = read_columns(["f", *"aabcddde"])
    tree = editing.start_alphabetical(texts, size=3)
    rows = dict.fromkeys(tree.ancestor[1], 0)
    for code in texts.codes.tolist():
        rows[groups(tree, 1)[texts.levels.labels[code]]] += 1
    assert rows == {"a – b": 3, "c – f": 6}


def test_a_value_called_other_is_not_the_group_of_rare_values():
    tree = editing.start_rare(read_columns(["other"] * 5 + ["a", "b"] + ["c"] * 5)[0], size=5)
    assert groups(tree, 1) == {"a": "other values", "b": "other values", "c": "c", "other": "other"}


TREE = Hierarchy.from_paths([(leaf, leaf, leaf, "*") for leaf in "abcd"])


def test_a_group_takes_its_values_along_on_every_higher_level():
    tree = editing.move_nodes(TREE, 0, ["a", "b"], "early")
    assert tree.ancestor[1:3] == (("early", "early", "c", "d"), ("early", "early", "c", "d"))
    later = editing.move_nodes(editing.move_nodes(tree, 1, ["early", "c"], "all but d"), 0, ["b"], "")
    assert groups(later, 1) == {"a": "early", "b": "b", "c": "c", "d": "d"}
    assert groups(later, 2) == {"a": "all but d", "b": "all but d", "c": "all but d", "d": "d"}


def test_a_group_that_is_named_by_its_members_is_renamed_when_they_change():
    pair = editing.move_nodes(TREE, 0, ["a", "b"], None)
    assert groups(pair, 1)["a"] == "a + b"
    assert groups(editing.move_nodes(pair, 0, ["c"], "a + b"), 1)["a"] == "a + 2 more"
    assert editing.move_nodes(pair, 0, ["a"], "").ancestor[1] == TREE.ancestor[1]
    assert groups(editing.move_nodes(TREE, 0, ["a"], "c"), 1)["c"] == "a + c"


def test_a_name_that_means_other_values_is_refused():
    tree = editing.move_nodes(TREE, 0, ["a", "b"], "early")
    with pytest.raises(UnmaskError, match="give the two nodes different names"):
        editing.move_nodes(tree, 0, ["c"], "a")
    with pytest.raises(UnmaskError, match="two groups of level 1"):
        editing.rename_groups(tree, 1, {"early": "c"})
    with pytest.raises(UnmaskError, match="has no name"):
        editing.rename_groups(tree, 1, {"early": ""})


def test_levels_are_added_and_removed():
    added = editing.add_level(TREE, 1)
    assert added.levels == TREE.levels + 1
    assert editing.remove_level(added, 2) == TREE
    with pytest.raises(UnmaskError, match="must stay"):
        editing.remove_level(Hierarchy.from_paths([("a", "*"), ("b", "*")]), 1)


@given(st.lists(st.tuples(st.integers(0, 2), st.sets(st.integers(0, 3), min_size=1), st.integers(0, 5)), max_size=8))
def test_any_sequence_of_moves_leaves_a_hierarchy_of_the_same_values(moves: list[tuple[int, set[int], int]]):
    tree = TREE
    for level, positions, target in moves:
        nodes = list(dict.fromkeys(tree.ancestor[level]))
        chosen = {nodes[position % len(nodes)] for position in positions}
        free = [label for label in dict.fromkeys(tree.ancestor[level + 1]) if label not in nodes]
        options = [*free, "", None]
        group = options[target % len(options)]
        before = [tree.members(node) for node in chosen]
        tree = editing.move_nodes(tree, level, chosen, group)
        together = {tree.ancestor[level + 1][leaf] for leaves in before for leaf in leaves}
        assert tree.leaves == tuple("abcd")
        assert len(together) == (len(chosen) if group == "" else 1)


def test_a_written_hierarchy_is_read_as_it_was(tmp_path: Path):
    tree = Hierarchy.from_paths([('a;b "c"', "x, y", "*"), ("level 1", "Größe", "*"), ("value", "Größe", "*")])
    tree.write(tmp_path / "tree.csv")
    assert Hierarchy.read(tmp_path / "tree.csv") == tree
    assert (tmp_path / "tree.csv").read_text(encoding="utf-8").splitlines()[1] == "level 1;Größe;*"
