"""Columns of the two ends of a link, and files that are a network."""

import json

import numpy as np
import pytest

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.graphs import SocialGraph, datasets
from unmask.graphs.graph import Dropped


@pytest.fixture
def network():
    return datasets.barabasi_albert(40, 3, rng=np.random.default_rng(0))


def written(tmp_path, lines, name="a.csv"):
    file = tmp_path / name
    file.write_text("\n".join(lines) + "\n")
    return file


def check_same_graph(graph, network):
    assert graph.labels.tolist() == list(range(network.n_nodes))
    assert graph.indptr.tolist() == network.indptr.tolist()
    assert graph.neighbor.tolist() == network.neighbor.tolist()


def rows(network, template):
    pairs = zip(*(side.tolist() for side in network.edges()), strict=True)
    return [template.format(i=i, u=u, v=v, t=1_500_000_000 + 7 * i) for i, (u, v) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("head", "template"),
    [
        ("id,from,to", "{i},{u},{v}"),
        ("timestamp,from,to", "{t},{u},{v}"),
        ("to,weight,from", "{v},0.5,{u}"),
        ("Weight,Source,Target,Type", "2,{u},{v},Undirected"),
        ("id,sender_id,receiver_id", "{i},{u},{v}"),
        ("date,who,whom", "2020-01-02,{u},{v}"),
        ("who,whom,since", "{u},{v},2019"),
        ("edge_id,FromNodeId,ToNodeId", "{i},{u},{v}"),
        ("# made by hand\nid,from,to", "{i},{u},{v}"),
    ],
)
def test_g1_the_header_decides_which_columns_are_the_edge(tmp_path, network, head, template):
    check_same_graph(SocialGraph.read(written(tmp_path, [head, *rows(network, template)])), network)


@pytest.mark.parametrize("template", ["{u},{v}", "{u},{v},{t}", "{u},{v},7", "{t},{u},{v}"])
def test_ids_of_ten_digits_are_not_times_if_both_columns_share_them(tmp_path, network, template):
    pairs = zip(*(1_000_000_000 + 17 * side for side in network.edges()), strict=True)
    lines = [template.format(u=u, v=v, t=1_500_000_000 + 7 * i) for i, (u, v) in enumerate(pairs)]
    graph = SocialGraph.read(written(tmp_path, lines))
    assert (graph.n_nodes, graph.n_edges) == (network.n_nodes, network.n_edges)
    assert min(graph.labels) == 1_000_000_000


def test_a_person_and_a_time_are_not_the_ends_of_an_edge(tmp_path, network):
    with pytest.raises(UnmaskError, match="no two columns"):
        SocialGraph.read(written(tmp_path, rows(network, "{u},{t}")))


@pytest.mark.parametrize(
    ("head", "template"),
    [
        ("person,friend", "{u},{v}"),
        ("Member;Contact", "{u};{v}"),
        ("Von;An;Gewicht", "{u};{v};12,5"),
        ("lender,borrower,loans", "{u},{v},3"),
        ("lender,borrower,month", "{u},{v},2024-05"),
        ("nr,lender,borrower", "{i},{u},{v}"),
    ],
)
def test_a_header_over_text_ids_is_not_a_person(tmp_path, network, head, template, caplog):
    u, v = network.edges()
    lines = [template.format(u=f"n{a}", v=f"n{b}", i=i) for i, (a, b) in enumerate(zip(u, v, strict=True))]
    read = SocialGraph.read(written(tmp_path, [head, *lines]))
    assert (read.n_nodes, read.n_edges) == (len(np.union1d(u, v)), network.n_edges)
    assert not any("first line" in record.getMessage() for record in caplog.records)


def test_numbers_before_two_texts_may_be_an_end(tmp_path):
    with pytest.raises(AmbiguousInput, match="readings that fit equally well"):
        SocialGraph.read(written(tmp_path, ["buyer,product,shop", "1,tea,corner", "2,tea,mall", "3,rice,mall"]))


def test_a_first_line_that_may_be_a_header_is_a_question(tmp_path):
    lines = ["ann bob", "cid dan", "dan eve", "eve cid"]
    file = written(tmp_path, lines, "a.txt")
    with pytest.raises(AmbiguousInput, match="may name columns") as refused:
        SocialGraph.read(file)
    assert refused.value.options == ("--header", "--no-header")
    assert "ann" not in str(refused.value)
    assert SocialGraph.read(file, header=False).n_nodes == 5
    assert SocialGraph.read(file, header=True).n_nodes == 3
    assert SocialGraph.read(written(tmp_path, lines, "c.txt"), source="ann", target="bob").n_nodes == 3
    assert SocialGraph.read(written(tmp_path, ["7 8", "1 2", "2 3"], "d.txt")).n_nodes == 5


@pytest.mark.parametrize("line", ["a,b,NA", "a,b,"])
def test_a_missing_weight_is_no_header(tmp_path, line):
    assert SocialGraph.read(written(tmp_path, [line, "c,d,5", "d,e,7"])).n_edges == 3


@pytest.mark.parametrize(
    ("template", "name"),
    [("{t} {u} {v}", "a.txt"), ("2020-01-02,{u},{v}", "a.csv"), ("{u} {v} 5 {t}", "a.txt"), ("{u} {v}", "a.txt")],
)
def test_g1_without_a_header_times_are_no_end(tmp_path, network, template, name):
    check_same_graph(SocialGraph.read(written(tmp_path, rows(network, template), name)), network)


def test_g1_ambiguous_columns_are_refused_and_can_be_named(tmp_path, network):
    counted = written(tmp_path, rows(network, "{i} {u} {v}"), "counted.txt")
    with pytest.raises(UnmaskError, match=r"readings that fit equally well.*--source 2 --target 3"):
        SocialGraph.read(counted)
    check_same_graph(SocialGraph.read(counted, source="2", target="3"), network)
    file = written(tmp_path, ["who,whom,where", *rows(network, "{u},{v},{i}")])
    check_same_graph(SocialGraph.read(file), network)
    check_same_graph(SocialGraph.read(file, source="who", target="whom"), network)
    check_same_graph(SocialGraph.read(file, source="Whom", target="who"), network)
    for ends, message in [
        (("who", "whose"), "column 'whose' is not in"),
        (("who", "who"), "twice"),
        (("1", "9"), "column '9' is not in"),
    ]:
        with pytest.raises(UnmaskError, match=message):
            SocialGraph.read(file, source=ends[0], target=ends[1])


def test_g1_parquet_goes_by_its_names_too(tmp_path, network):
    pandas = pytest.importorskip("pandas")
    u, v = network.edges()
    time = pandas.to_datetime(np.arange(len(u)), unit="s")
    pandas.DataFrame({"id": np.arange(len(u)), "from": u, "to": v}).to_parquet(tmp_path / "n.parquet")
    check_same_graph(SocialGraph.read(tmp_path / "n.parquet"), network)
    pandas.DataFrame({"happened": time, "who": u, "whom": v}).to_parquet(tmp_path / "t.parquet")
    check_same_graph(SocialGraph.read(tmp_path / "t.parquet"), network)
    check_same_graph(SocialGraph.read(tmp_path / "t.parquet", source="whom", target="who"), network)


@pytest.mark.parametrize("head", [[], ["# adjacency", "# by somebody"]])
@pytest.mark.parametrize("both_ways", [True, False])
def test_g2_an_adjacency_list_is_read_as_one(tmp_path, network, head, both_ways):
    lines = []
    for node in range(network.n_nodes):
        near = [neighbor for neighbor in network.neighbors(node).tolist() if both_ways or neighbor > node]
        lines.append(" ".join(map(str, [node, *near])))
    check_same_graph(SocialGraph.read(written(tmp_path, [*head, *lines], "adj2.txt")), network)
    lines_of_labels = [" ".join(f"p{cell}" for cell in line.split()) for line in lines]
    graph = SocialGraph.read(written(tmp_path, [*head, *lines_of_labels], "named.txt"))
    assert (graph.n_nodes, graph.n_edges) == (network.n_nodes, network.n_edges)


def test_g2_lines_that_may_be_adjacencies_or_attributes_are_refused(tmp_path):
    with pytest.raises(UnmaskError, match="lines of unequal length"):
        SocialGraph.read(written(tmp_path, ["1 2", "1 3 4", "2 3", "3 4 1 2"], "a.txt"))
    metis = ["4 5", "2 3", "1 3 4", "1 2 4", "2 3"]
    with pytest.raises(UnmaskError, match="lines of unequal length"):
        SocialGraph.read(written(tmp_path, metis, "b.txt"))


@pytest.mark.parametrize("name", ["matrix.csv", "matrix.txt"])
@pytest.mark.parametrize("weight", [1, 3])
def test_g2_a_matrix_is_read_as_one(tmp_path, network, name, weight):
    mark = "," if name.endswith("csv") else " "
    matrix = network.adjacency().toarray() * weight
    lines = [mark.join(map(str, row)) for row in matrix.tolist()]
    graph = SocialGraph.read(written(tmp_path, lines, name))
    check_same_graph(graph, network)
    assert graph.dropped.attributes == (("weight",) if weight > 1 else ())


def test_g2_a_matrix_with_names(tmp_path, network):
    names = [f"p{i}" for i in range(network.n_nodes)]
    matrix = network.adjacency().toarray()
    lines = [",".join(["", *names])] + [
        ",".join([name, *map(str, row)]) for name, row in zip(names, matrix.tolist(), strict=True)
    ]
    graph = SocialGraph.read(written(tmp_path, lines))
    assert graph.labels.tolist() == names
    assert graph.neighbor.tolist() == network.neighbor.tolist()
    part = written(tmp_path, [",".join(map(str, row)) for row in matrix[1:].tolist()])
    with pytest.raises(AmbiguousInput):
        SocialGraph.read(part)
    with pytest.raises(UnmaskError, match="39 rows of 40 numbers, expected a square matrix"):
        SocialGraph.read(part, form="matrix")
    with pytest.raises(UnmaskError, match="0 rows of 1 numbers, expected a square matrix"):
        SocialGraph.read(written(tmp_path, ["ann,bob"]), form="matrix")


# --- what is left out is said ---------------------------------------------------------------------------------------


def test_one_line_accounts_for_a_file(tmp_path, caplog):
    lines = [
        "# by hand",
        "from,to,weight,since",
        "a,b,1,2019",
        "b,a,1,2019",
        "",
        "b,c,0,2020",
        "c,d,2,2020",
        "d,d,1,2021",
    ]
    graph = SocialGraph.read(written(tmp_path, lines))
    assert graph.dropped == Dropped(reversed=1, self_loops=1, attributes=("direction", "weight", "since"))
    message = "direction (except by Nar09:directed=true and Climb), weight and since are left out"
    assert str(graph.dropped) == message
    account = "a.csv: 4 people, 2 edges; 8 lines; ends: from, to; 1 comment lines, 1 blank; 1 of weight 0 (no edges); "
    assert caplog.messages == [f"{account}1 loops, 1 repeated; {message}"]
    caplog.clear()
    assert str(SocialGraph.read(written(tmp_path, ["1 2", "2 3"], "b.txt")).dropped) == ""
    assert str(SocialGraph.read(written(tmp_path, ["1 2 0.5", "2 3 0.7"], "w.txt")).dropped) == "column 3 is left out"
    assert len(caplog.records) == 2


def test_g7_direction_and_attributes_of_formats_are_noted(tmp_path):
    inside = '<key id="d0" for="node" attr.name="age"/><key id="d1" for="edge" attr.name="weight"/>'
    text = f'<graphml>{inside}<graph edgedefault="directed"><node id="a"/><node id="b"/>'
    text += '<edge source="a" target="b"/></graph></graphml>'
    assert SocialGraph.read(written(tmp_path, [text], "d.graphml")).dropped.attributes == ("direction", "age", "weight")
    net = written(tmp_path, ["*vertices 2", "*arcs", "1 2 3.5"], "d.net")
    assert SocialGraph.read(net).dropped.attributes == ("direction", "weight")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("w.csv", "source,target,weight\na,b,1\nb,c,0\nc,d,2.5\n"),
        ("w.tsv", "from\tto\tcount\na\tb\t1\nb\tc\t0.0\nc\td\t2\n"),
        ("w.txt", "0 1 0 0\n1 0 0 0\n0 0 0 3\n0 0 3 0\n"),
        ("w.net", "*vertices 4\n*edges\n1 2 1\n2 3 0\n3 4 2.5\n"),
        (
            "w.graphml",
            (
                '<graphml><key id="d" for="edge" attr.name="weight"/><graph><node id="a"/><node id="b"/><node id="c"/>'
                '<node id="d"/><edge source="a" target="b"/><edge source="b" target="c"><data key="d">0.0</data></edge>'
                '<edge source="c" target="d"><data key="d">2</data></edge></graph></graphml>'
            ),
        ),
        (
            "w.json",
            (
                '{"nodes": [{"id": 1.0}, {"id": 2}, {"id": 3}, {"id": 4}], "links": [{"source": 1, "target": 2}, '
                '{"source": 2, "target": 3.0, "weight": 0}, {"source": 3, "target": 4, "weight": 2}]}'
            ),
        ),
    ],
)
def test_an_edge_of_weight_zero_is_not_an_edge_but_its_ends_are_people(tmp_path, caplog, name, text):
    graph = SocialGraph.read(written(tmp_path, [text], name))
    assert (graph.n_nodes, graph.n_edges) == (4, 2)
    assert "1 of weight 0 (no edges)" in caplog.text or name == "w.txt"


def test_text_that_other_programs_put_around_edges_is_not_an_edge(tmp_path, network):
    pairs = rows(network, "{u},{v}")
    check_same_graph(SocialGraph.read(written(tmp_path, ["sep=,", "source,target", *pairs], "sep.csv")), network)
    index = [f"{i},{pair}" for i, pair in enumerate(pairs)]
    read = SocialGraph.read(written(tmp_path, [",source,target", *index], "index.csv"))
    check_same_graph(read, network)
    assert read.dropped.attributes[-1] == "column 1"
    quoted = SocialGraph.read(written(tmp_path, rows(network, "('n{u}', 'n{v}')"), "tuples.txt"))
    assert sorted(quoted.labels.tolist()) == sorted(f"n{label}" for label in range(network.n_nodes))
    counted = written(tmp_path, [f"{network.n_nodes} {len(pairs)}", *rows(network, "{u} {v}")], "counted.txt")
    with pytest.raises(AmbiguousInput, match="may count nodes and edges"):
        SocialGraph.read(counted)
    check_same_graph(SocialGraph.read(counted, skip_lines=1), network)
    with pytest.raises(UnmaskError, match="ends with a colon"):
        SocialGraph.read(written(tmp_path, rows(network, "{u}: {v}"), "colon.txt"))


# --- formats --------------------------------------------------------------------------------------------------------


def test_g11_gexf_and_node_link_json_are_read(tmp_path):
    gexf = (
        '<gexf xmlns="http://gexf.net/1.3"><graph defaultedgetype="directed"><nodes><node id="0" label="ann"/>'
        '<node id="1"/><node id="2"/></nodes><edges><edge id="0" source="0" target="1" weight="2.0"/></edges>'
        "</graph></gexf>"
    )
    graph = SocialGraph.read(written(tmp_path, [gexf], "a.gexf"))
    assert (graph.n_nodes, graph.n_edges, graph.dropped.attributes[0]) == (3, 1, "direction")
    for key in ("links", "edges"):
        data = {"directed": True, "multigraph": False, "graph": {}, "nodes": [{"id": "ann", "age": 3}, {"id": 7}]}
        data[key] = [{"source": "ann", "target": 7, "weight": 2}]
        graph = SocialGraph.read(written(tmp_path, [json.dumps(data)], f"{key}.json"))
        assert graph.labels.tolist() == ["ann", "7"]
        assert (graph.n_edges, graph.dropped.attributes) == (1, ("direction", "age", "weight"))


@pytest.mark.parametrize("content", ["[1, 2]", "{}", '{"nodes": [1], "links": []}', '{"nodes": 3', "nothing"])
def test_g11_other_json_is_one_sentence(tmp_path, content):
    with pytest.raises(UnmaskError, match="node-link"):
        SocialGraph.read(written(tmp_path, [content], "a.json"))


def test_an_unknown_encoding_is_refused_before_the_file_is_read():
    with pytest.raises(UnmaskError, match="encoding 'cp125' is not known; did you mean 'cp1252'"):
        SocialGraph.read("absent.csv", encoding="cp125")


@pytest.mark.parametrize("name", ["g.gml", "g.pickle", "g.mtx", "g.metis", "g.dot", "g.gml.gz"])
def test_g11_a_format_that_is_not_read_names_those_that_are(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x80\x04graph [")
    with pytest.raises(UnmaskError, match=r"GraphML.*GEXF.*node-link JSON"):
        SocialGraph.read(tmp_path / name)


def test_g11_a_matrix_market_file_is_not_taken_for_links(tmp_path):
    with pytest.raises(UnmaskError, match=r"Matrix Market.*GraphML"):
        SocialGraph.read(written(tmp_path, ["%%MatrixMarket matrix coordinate", "3 3 2", "1 2", "2 3"], "m.txt"))
