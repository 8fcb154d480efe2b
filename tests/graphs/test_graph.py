import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from unmask.core.errors import AmbiguousInput, FailedError, UnmaskError
from unmask.graphs.files import link_reading
from unmask.graphs.graph import Dropped, SocialGraph


def named_edges(graph):
    """The edges as a set of pairs of labels."""
    names = graph.labels if graph.labels is not None else np.arange(graph.n_nodes)
    u, v = graph.edges()
    return {frozenset(pair) for pair in zip(names[u].tolist(), names[v].tolist(), strict=True)}


def written(folder, text, name="links.txt"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


# --- the graph itself -----------------------------------------------------------------------------------------------


def test_links_become_a_simple_graph_and_what_is_dropped_is_counted():
    graph = SocialGraph.from_edges([0, 0, 1, 2, 3, 3, 3, 1], [1, 1, 0, 2, 3, 3, 1, 3], n_nodes=5)
    assert graph.dropped == Dropped(self_loops=3, duplicates=1, reversed=2)
    assert [graph.n_nodes, graph.n_edges] == [5, 2]
    assert graph.degree.tolist() == [1, 2, 0, 1, 0]
    assert [graph.neighbors(node).tolist() for node in range(5)] == [[1], [0, 3], [], [1], []]
    assert [graph.indptr.dtype, graph.neighbor.dtype] == [np.int64, np.int32]


links = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60)


@given(links)
def test_against_sets(pairs):
    u, v = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    graph = SocialGraph.from_edges(u, v, n_nodes=10)
    expected = {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    assert named_edges(graph) == expected
    assert graph.n_edges == len(expected)
    lost = graph.dropped
    assert len(pairs) == graph.n_edges + lost.self_loops + lost.duplicates + lost.reversed
    for node in range(10):
        assert graph.neighbors(node).tolist() == sorted(next(iter(e - {node})) for e in expected if node in e)
    grid = np.mgrid[0:10, 0:10].reshape(2, -1)
    assert graph.has_edges(*grid).tolist() == [frozenset(pair) in expected for pair in grid.T.tolist()]


@given(links, st.permutations(range(10)), st.integers(0, 10))
def test_an_induced_subgraph_has_the_edges_between_its_nodes_in_its_order(pairs, order, size):
    chosen = order[:size]
    graph = SocialGraph.from_edges([p[0] for p in pairs], [p[1] for p in pairs], labels=list("abcdefghij"))
    part = graph.take(np.array(chosen, dtype=np.int64))
    assert part.n_nodes == size
    assert part.labels.tolist() == ["abcdefghij"[node] for node in chosen]
    assert named_edges(part) == {edge for edge in named_edges(graph) if edge <= set(part.labels.tolist())}


def test_the_largest_component():
    graph = SocialGraph.from_edges([0, 3, 4, 6], [1, 4, 5, 7], n_nodes=9)
    assert graph.largest_component().tolist() == [3, 4, 5]
    tie = SocialGraph.from_edges([5, 1], [4, 3], n_nodes=6)
    assert tie.largest_component().tolist() == [1, 3]
    assert SocialGraph.from_edges([], []).largest_component().tolist() == []


def test_large_numbers_do_not_run_over():
    n = 2**31 - 1
    low, high = np.array([n - 3, n - 2]), np.array([n - 2, n - 1])
    key = (low * n + high) * 2 + 1
    assert (key > 0).all()  # the sort key of the last possible edge fits int64
    with pytest.raises(UnmaskError, match="node numbers"):
        SocialGraph.from_edges([0], [1], n_nodes=2**31)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SocialGraph.from_edges([0], [1, 2]), "expected equal counts"),
        (lambda: SocialGraph.from_edges([0.0], [1.0]), "node numbers"),
        (lambda: SocialGraph.from_edges([-1], [1]), "from -1 to 1"),
        (lambda: SocialGraph.from_edges([0], [3], n_nodes=3), "expected 0 to 2"),
        (lambda: SocialGraph.from_edges([0], [1], labels=["a", "a"]), "distinct"),
        (lambda: SocialGraph.from_edges([0], [1], labels=["a", "b"], n_nodes=3), "2 labels for 3 nodes"),
        (lambda: SocialGraph.from_edges([0], [1]).take([0, 0]), "chosen twice"),
        (lambda: SocialGraph.from_edges([0], [1]).take([2]), "expected 0 to 1"),
        (lambda: SocialGraph.from_edges([0], [1]).neighbors(-1), "not in the graph"),
        (lambda: SocialGraph.from_edges([0], [1], n_nodes=3).has_edges([0], [5]), "from 5 to 5, expected 0 to 2"),
        (lambda: SocialGraph.from_edges([0], [1], n_nodes=3).has_edges([-1], [1]), "from -1 to -1, expected 0 to 2"),
        (lambda: SocialGraph.from_edges([], [], labels=[None, "a", None]), "distinct"),
        (lambda: SocialGraph.read(3), "cannot be read from int"),
        (lambda: SocialGraph.read(sparse.coo_array((2, 3))), "expected a square matrix"),
    ],
)
def test_wrong_use_is_refused(call, message):
    with pytest.raises(UnmaskError, match=message):
        call()


# --- reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["links.txt", "links.txt.gz", "out.something"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_blank_lines_weights_and_both_directions(tmp_path, name, end):
    lines = [
        "# Nodes: 4",
        "% 9 9",
        "",
        "30\t7",
        "  7 30  ",
        "",
        "1412 7 0.5 2009",
        "   ",
        "# 8 8",
        "5 5",
        "30 7",
        "7\t1412\t1",
    ]
    with pytest.raises(AmbiguousInput, match=r"line 7 .*3 such lines"):
        SocialGraph.read(written(tmp_path, end.join(lines), name))
    options = {"form": "links", "delimiter": "blank", "source": 1, "target": 2, "comment": "#"}
    graph = SocialGraph.read(written(tmp_path, end.join(lines).replace("% 9", "# 9"), name), **options)
    assert graph.labels.tolist() == [5, 7, 30, 1412]
    assert named_edges(graph) == {frozenset({7, 30}), frozenset({7, 1412})}
    left_out = ("column 3", "column 4")
    assert graph.dropped == Dropped(self_loops=1, duplicates=1, reversed=2, attributes=left_out)


def test_ids_stay_texts_unless_all_are_whole_numbers(tmp_path):
    with pytest.raises(AmbiguousInput, match="07 and 7 may be one"):
        SocialGraph.read(written(tmp_path, "01 1\n1 2\n"))
    graph = SocialGraph.read(written(tmp_path, "01 1\n1 2\n"), ids="text")
    assert graph.labels.tolist() == ["01", "1", "2"]
    assert SocialGraph.read(written(tmp_path, "01 1\n1 2\n"), ids="number").labels.tolist() == [1, 2]
    graph = SocialGraph.read(written(tmp_path, "1.5 1\n1 2e3\n"), source=1, target=2)
    assert graph.labels.tolist() == ["1", "1.5", "2e3"]
    graph = SocialGraph.read(written(tmp_path, "-3 99999999999\n99999999999 4\n"))
    assert graph.labels.tolist() == [-3, 4, 99999999999]
    graph = SocialGraph.read(written(tmp_path, "99999999999999999999 1\n"))
    assert graph.labels.tolist() == ["1", "99999999999999999999"]
    graph = SocialGraph.read(written(tmp_path, "zoë anna\nanna ben\n"))
    assert graph.labels.tolist() == ["anna", "ben", "zoë"]
    assert named_edges(graph) == {frozenset({"zoë", "anna"}), frozenset({"anna", "ben"})}


def test_delimiters_and_quotes(tmp_path):
    people = {frozenset({"Doe, J", "b c"}), frozenset({"b c", "x"})}
    for text, name, delimiter in [
        ('"Doe, J", b c ,1\nb c,"x",2', "a.csv", None),
        ('"Doe, J";b c\nb c;x', "a.csv", ";"),
        ("Doe, J\tb c\t1\nb c\tx\t2", "a.tsv", "tab"),
        ("Doe, J|b c\nb c|x", "a.txt", "|"),
        ('"Doe, J" "b c"\n"b c" x', "a.txt", " "),
    ]:
        assert named_edges(SocialGraph.read(written(tmp_path, text, name), delimiter=delimiter)) == people
    assert named_edges(SocialGraph.read(written(tmp_path, "1;2\n2;3"))) == {frozenset({1, 2}), frozenset({2, 3})}
    with pytest.raises(UnmaskError, match="expected one character"):
        SocialGraph.read(written(tmp_path, "1|2"), delimiter="||||")


@pytest.mark.parametrize(
    ("text", "header", "n_edges"),
    [
        ("Source,Target\na,b\nb,c\n", None, 2),
        ("who,whom\n1,2\n2,3\n", None, 2),
        ("who,whom\na,b\nb,c\n", None, 2),
        ("lender,borrower\na,b\nb,c\n", False, 3),
        ("who,whom\na,b\nb,c\n", True, 2),
        ("source,target\na,b\n", False, 2),
        ("# a comment\nann,ben\n1,2\n", None, 1),
        ("1,2\n3,4\n", None, 2),
        ("\ufeffsource,target\r\n1,2\r\n", None, 1),
        ("user1,user_2\nuser_2,ann\nann,user1\n", None, 3),
        ("u,v\nv,w\n", None, 2),
        ("u,v\na,b\nu,v\nb,c\n", None, 3),
        ("ann,ben\n1,2\nben,1\n", False, 3),
        ("who,whom\r\na,b\r\nwho,whom\r\n", True, 2),
        ("\n# who\n\nsource,target\na,b\n", True, 1),
    ],
)
def test_a_header_is_distinguished_from_links(tmp_path, text, header, n_edges):
    assert SocialGraph.read(written(tmp_path, text, "a.csv"), header=header).n_edges == n_edges


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# c\n\n1 2\n3\n4 5\n", 4),
        ("1 2\r\n\r\n\r\nsecret\r\n", 4),
        ("secret\n1 2\n", 1),
        ('1 2\n"secret" 3\n"4 5\n', 3),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_malformed_line_is_named_by_its_number_never_by_its_content(tmp_path, text, line, name):
    with pytest.raises(AmbiguousInput, match=f"^line {line} of '{name}'") as caught:
        SocialGraph.read(written(tmp_path, text, name), two_mode=False)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("word", ["", "NA", "NaN", "null", "None", "\\N", "-1"])
def test_a_missing_id_is_a_question_with_three_answers(tmp_path, word):
    file = written(tmp_path, f"source,target\n1,2\n{word},3\n2,4\n4,5\n5,1\n", "a.csv")
    with pytest.raises(AmbiguousInput, match="1 of 5 edges") as refused:
        SocialGraph.read(file)
    assert refused.value.options[0] == "--missing-ids drop"
    people = {
        option: (graph := SocialGraph.read(file, missing_ids=option)).n_nodes + 100 * graph.n_edges
        for option in ("drop", "isolated", "keep")
    }
    assert people == {"drop": 404, "isolated": 405, "keep": 506}


def test_only_the_first_line_is_a_header(tmp_path):
    text = "who,whom\na,b\nwho,whom\nlonely\n"
    with pytest.raises(UnmaskError, match=r"^line 4 "):
        SocialGraph.read(written(tmp_path, text, "a.csv"), header=True)
    with pytest.raises(UnmaskError, match="one column"):
        SocialGraph.read(written(tmp_path, "lonely\na,b\nlonely\n", "a.csv"), header=True, delimiter=",")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FailedError, match="does not exist"):
        SocialGraph.read(tmp_path / "none.txt")
    with pytest.raises(UnmaskError, match="only comments"):
        SocialGraph.read(written(tmp_path, "# only\n\n"))
    compressed = gzip.compress("\n".join(f"{i} {i + 1}" for i in range(9999)).encode())
    (tmp_path / "cut.txt.gz").write_bytes(compressed[: len(compressed) // 2])
    with pytest.raises(FailedError):
        SocialGraph.read(tmp_path / "cut.txt.gz")
    (tmp_path / "nul.txt").write_bytes(b"1 2\n2 3\n3\0 4\n")
    with pytest.raises(UnmaskError, match=r"line 3 .*NUL byte"):
        SocialGraph.read(tmp_path / "nul.txt")


def test_pajek(tmp_path):
    text = '% net\n*Vertices 4\n1 "Doe, J" 0.1 0.2\n3 b\n*Edges\n1 3 2.5\n3 1\n*Arcs\n2 3\n2 2\n'
    graph = SocialGraph.read(written(tmp_path, text, "a.net"))
    assert graph.labels.tolist() == ["Doe, J", "2", "b", "4"]
    assert graph.degree.tolist() == [1, 1, 2, 0]
    assert graph.dropped == Dropped(self_loops=1, reversed=1, attributes=("direction", "weight"))
    for bad, message in [
        ("*vertices 2\n*edges\n1 secret\n", "^line 3 "),
        ("*vertices 2\n*edges\n1 3\n", "^line 3 .* beyond 1 to 2"),
        ("*vertices 2\n*edges\n99999999999999999999 1\n", "^line 3 "),
        ("*vertices 99999999999\n", "^line 1 "),
        ("*vertices x\n", "^line 1 "),
        (f"*vertices {'9' * 5000}\n", "^line 1 "),
        (f"*vertices 2\n{'9' * 5000} a\n", "^line 2 "),
        (f"*vertices 2\n*edges\n1 {'9' * 5000}\n", "^line 3 "),
        ("*vertices 2\n*matrix\n0 1\n", "^line 3 "),
        ("*vertices 2\n1 a\n2 a\n", "two vertices with one label"),
    ]:
        with pytest.raises(UnmaskError, match=message):
            SocialGraph.read(written(tmp_path, bad, "a.net"))


def test_parquet_with_numbers_with_texts_and_with_holes(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"a": [30, 7], "b": [7, 8], "w": [1.0, 2.0]}).to_parquet(tmp_path / "n.parquet")
    assert SocialGraph.read(tmp_path / "n.parquet").labels.tolist() == [7, 8, 30]
    pandas.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}).to_parquet(tmp_path / "t.parquet")
    assert SocialGraph.read(tmp_path / "t.parquet").labels.tolist() == ["x", "y", "z"]
    pandas.DataFrame({"a": ["x", None], "b": ["y", "z"]}).to_parquet(tmp_path / "h.parquet")
    with pytest.raises(UnmaskError, match=r"1 of 2 edges .*missing end"):
        SocialGraph.read(tmp_path / "h.parquet")


def test_matrices_and_graph_objects():
    matrix = sparse.csr_matrix(np.array([[0, 2, 0], [0, 1, 0], [0, 0, 0]]))
    graph = SocialGraph.read(matrix)
    assert [graph.n_nodes, graph.n_edges, graph.labels] == [3, 1, None]
    assert (SocialGraph.read(graph.adjacency()).neighbor == graph.neighbor).all()

    class Networkx:
        def nodes(self):
            return ["b", "a", "c"]

        def edges(self):
            return [("a", "b"), ("b", "a", 1), ("a", "a")]

    graph = SocialGraph.read(Networkx())
    assert graph.labels.tolist() == ["b", "a", "c"]
    assert graph.degree.tolist() == [1, 1, 0]

    mixed = SocialGraph.from_edges([0, 1], [1, 2], labels=[None, "a", "b"])
    assert mixed.labels.tolist() == [None, "a", "b"]

    class Igraph:
        def get_edgelist(self):
            return [(0, 2)]

        def vcount(self):
            return 4

    assert SocialGraph.read(Igraph()).degree.tolist() == [1, 0, 1, 0]


# --- writing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.txt", "a.tsv.gz", "a.csv", "a.csv.gz", "a.parquet", "a.net", "a.net.gz"])
@pytest.mark.parametrize("labels", [None, [30, 7, 5, 99], ["Doe, J", "#b", "10", "c d"]])
def test_a_written_graph_is_read_back(tmp_path, name, labels):
    graph = SocialGraph.from_edges([0, 0, 3], [1, 2, 2], labels=labels)
    graph.write(tmp_path / name)
    again = SocialGraph.read(tmp_path / name)
    if name.startswith("a.net") and labels is None:
        assert again.labels.tolist() == [0, 1, 2, 3]
    assert named_edges(again) == named_edges(graph)
    assert again.dropped == Dropped()


def test_writing_refuses_what_would_be_lost(tmp_path):
    pair_only = SocialGraph.from_edges([0], [1], n_nodes=3)
    with pytest.raises(UnmaskError, match="1 nodes have no edge"):
        pair_only.write(tmp_path / "a.txt")
    pair_only.write(tmp_path / "a.net")
    assert SocialGraph.read(tmp_path / "a.net").degree.tolist() == [1, 1, 0]
    with pytest.raises(UnmaskError, match="exists"):
        pair_only.write(tmp_path / "a.net")
    pair_only.write(tmp_path / "a.net", force=True)
    with pytest.raises(UnmaskError, match="unknown suffix"):
        pair_only.write(tmp_path / "a.gml")
    with pytest.raises(UnmaskError, match="quotation mark"):
        SocialGraph.from_edges([0], [1], labels=['a"', "b"]).write(tmp_path / "q.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.net"]  # nothing half written is left
    with pytest.raises(FailedError, match="cannot be written"):
        pair_only.write(tmp_path / "nowhere" / "a.net")


def test_a_number_is_written_bare_and_the_same_bytes_come_out_twice(tmp_path):
    graph = SocialGraph.from_edges([0, 1], [1, 2], labels=[30, 7, 5])
    graph.write(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "# Nodes: 3 Edges: 2\n30\t7\n7\t5\n"
    for name in ("a.txt.gz", "b.txt.gz"):
        graph.write(tmp_path / name)
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()


def test_the_matrix_of_a_graph_holds_its_neighbors_and_no_copy_of_them():
    graph = SocialGraph.from_edges([0, 1, 2, 2], [1, 2, 3, 0])
    matrix = graph.adjacency()
    assert np.shares_memory(matrix.indices, graph.neighbor)
    assert matrix.toarray().tolist() == [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]]


def test_a_network_beyond_the_first_memory_limit_is_read_with_the_second(tmp_path, monkeypatch):
    file = tmp_path / "friends.csv"
    file.write_text("source,target\n" + "".join(f"person {i},person {i * i % 997}\n" for i in range(2000)))
    graph = SocialGraph.read(file)
    monkeypatch.setattr(link_reading, "_ENGINE_BYTES", 1 << 16)
    small = SocialGraph.read(file)
    assert np.array_equal(small.neighbor, graph.neighbor)
    assert np.array_equal(small.labels, graph.labels)
