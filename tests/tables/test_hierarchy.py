import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from unmask.core.errors import FailedError, UnmaskError
from unmask.tables.hierarchy import Hierarchy

ZIP = [("123", "12*", "*"), ("911", "91*", "*"), ("124", "12*", "*"), ("912", "91*", "*")]


def test_members_of_leaf_node_and_root():
    tree = Hierarchy.from_paths(ZIP)
    assert tree.members("911") == {1}
    assert tree.members("12*") == {0, 2}
    assert tree.members("*") == {0, 1, 2, 3}


def test_depth_first_order_keeps_siblings_together():
    assert Hierarchy.from_paths(ZIP).order() == (0, 2, 1, 3)


def test_reorder_moves_leaves_and_their_ancestors():
    tree = Hierarchy.from_paths(ZIP).reorder(["912", "911", "124", "123"])
    assert tree.leaves == ("912", "911", "124", "123")
    assert tree.members("12*") == {2, 3}
    with pytest.raises(UnmaskError, match="expected the same values"):
        tree.reorder(["912"])


def test_canonical_label_of_a_set_is_the_lowest_node():
    tree = Hierarchy.from_paths([("a", "A", "A", "*"), ("b", "B", "C", "*"), ("c", "B", "C", "*")])
    assert tree.label_of[frozenset({0})] == "a"
    assert tree.label_of[frozenset({1, 2})] == "B"


def test_read_skips_blank_lines_and_trims(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("a ; x;*\n\n b;x;*\n")
    tree = Hierarchy.read(path)
    assert tree.leaves == ("a", "b")
    assert tree.levels == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ('"', "has no complete line"),
        ("a;*\nb;*\nc;x;*\n", "line 3 of .* does not fit the reading with 2 columns; correct"),
        ("a;*\na;*\n", "1 leaves of the hierarchy are repeated"),
        ("a;;*\n", "empty label"),
        ("a;x;P\nb;x;Q\n", "splits a node"),
        ("a;b;*\nb;c;*\n", "also names other leaves"),
    ],
)
def test_malformed_files_are_refused(tmp_path, text, message):
    path = tmp_path / "tree.csv"
    path.write_text(text)
    with pytest.raises(UnmaskError, match=message):
        Hierarchy.read(path)


@st.composite
def trees(draw):
    """Draw the paths of a tree with two to four levels, and words that the reader does not know."""
    n, height = draw(st.integers(2, 40)), draw(st.integers(1, 3))
    widths = sorted(draw(st.lists(st.integers(1, 6), min_size=height, max_size=height)), reverse=True)
    leaf = draw(st.sampled_from(["{}", "Straße {}", "{}, Ulm", "0{}", "E{}.9", "[{}, 99]"]))
    paths, names = [], ["Blatt", "Kreis", "Land", "Welt"]
    for index in range(n):
        group, path = index, [leaf.format(index)]
        for level, width in enumerate(widths):
            group %= width
            path.append(f"g{level} {group}")
        paths.append((*path[:-1], "*"))
    return paths, names[: height + 1]


@given(trees(), st.sampled_from(";,\t|"), st.booleans(), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=60, deadline=None)
def test_a_tree_is_the_same_with_any_delimiter_and_with_a_header(tmp_path_factory, tree, delimiter, header, end):
    paths, names = tree
    path = tmp_path_factory.getbasetemp() / "tree.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, lineterminator=end).writerows([names] * header + paths)

    assert Hierarchy.read(path).ancestor == Hierarchy.from_paths(paths).ancestor


def test_levels_without_a_common_root_may_have_a_named_first_line_or_are_asked_about(tmp_path):
    path = tmp_path / "tree.csv"
    rows = "Ulm;BW\nBonn;NRW\nAalen;BW\nMainz;RP\n"
    for first, leaves in (("level 0;level 1\n", 4), ("# Ort;Land\n", 4), ("Karlsruhe;BW\n", 5)):
        path.write_text(first + rows)
        assert len(Hierarchy.read(path).leaves) == leaves
    path.write_text("Ort;Land\nUlm;BW\nBonn;NRW\n")
    with pytest.raises(UnmaskError, match=r"line 1 of .* may name the levels or be a leaf") as caught:
        Hierarchy.read(path)
    assert "Ort" not in str(caught.value)


def test_a_header_of_a_hierarchy_changes_no_information_loss(tmp_path):
    cells = {"zip": ["10001", "10002", "20001", "20002"], "ill": list("abab")}
    lines = "10001;100**;*\n10002;100**;*\n20001;200**;*\n20002;200**;*\n"
    losses = []
    for index, text in enumerate((lines, "zip;area;all\n" + lines, lines.replace(";", ","), lines.replace(";", "\t"))):
        (tmp_path / f"{index}.csv").write_text(text)
        read = {"hierarchies": {"zip": tmp_path / f"{index}.csv"}, "cells": "nodes"}
        table = unmask.read_table(cells, quasi_identifiers="zip", sensitive="ill", **read)
        losses.append(unmask.protect(table, k=2).facts["gcp"])

    assert len(set(losses)) == 1


def test_unreadable_files_fail(tmp_path):
    with pytest.raises(FailedError, match="does not exist"):
        Hierarchy.read(tmp_path / "nothing.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe;*\n")
    with pytest.raises(FailedError, match="neither UTF-8 nor"):
        Hierarchy.read(tmp_path / "bytes.csv")


def test_unknown_node_is_refused_without_showing_it():
    with pytest.raises(UnmaskError) as caught:
        Hierarchy.from_paths(ZIP).members("999")
    assert "999" not in str(caught.value)
