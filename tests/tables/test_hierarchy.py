import pytest

from unmask.errors import FailedError, UnmaskError
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
        ("a;*\nb;x;*\n", "line 2 .* has 3 levels, expected 2"),
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


def test_unreadable_files_fail(tmp_path):
    with pytest.raises(FailedError, match="does not exist"):
        Hierarchy.read(tmp_path / "nothing.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe;*\n")
    with pytest.raises(FailedError, match="not UTF-8"):
        Hierarchy.read(tmp_path / "bytes.csv")


def test_unknown_node_is_refused_without_showing_it():
    with pytest.raises(UnmaskError) as caught:
        Hierarchy.from_paths(ZIP).members("999")
    assert "999" not in str(caught.value)
