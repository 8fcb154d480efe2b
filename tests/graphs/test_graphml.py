import gzip

import numpy as np
import pytest

from unmask.core.errors import FailedError, UnmaskError
from unmask.graphs.graph import SocialGraph

# As networkx writes it (attributes, direction) and as the format's primer has it.
DIRECTED = """<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <key id="d0" for="node" attr.name="age" attr.type="long"/>
  <graph edgedefault="directed">
    <node id="30"><data key="d0">41</data></node>
    <node id="7"/>
    <node id="9"/>
    <!-- both ways -->
    <edge source="30" target="7"><data key="d0">1</data></edge>
    <edge source="7" target="30"/>
    <edge source="7" target="7" directed="false"/>
  </graph>
</graphml>
"""


def written(tmp_path, text, name="a.graphml"):
    file = tmp_path / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


@pytest.mark.parametrize("name", ["a.graphml", "A.GraphML.gz"])
def test_a_directed_file_with_attributes(tmp_path, name):
    graph = SocialGraph.read(written(tmp_path, DIRECTED, name))
    assert graph.labels.tolist() == [30, 7, 9]
    assert graph.edges()[0].tolist() == [0]
    assert graph.degree.tolist() == [1, 1, 0]
    assert (graph.dropped.reversed, graph.dropped.self_loops) == (1, 1)


def test_edges_may_stand_before_nodes_and_without_a_namespace(tmp_path):
    inside = '<edge source="b" target="a"/><node id="a"/><node id="b"/>'
    text = f'<graphml><graph edgedefault="undirected">{inside}</graph></graphml>'
    graph = SocialGraph.read(written(tmp_path, text))
    assert (graph.labels.tolist(), graph.n_edges) == (["a", "b"], 1)


@pytest.mark.parametrize("name", ["a.graphml", "a.graphml.gz"])
@pytest.mark.parametrize(
    "labels", [None, [5, 70, 6, 1], ["a", "b", "c", "d"], ['<"a">', "b & c", "tab\tand\nline", "é 'x'"]]
)
def test_a_written_file_is_read_again(tmp_path, name, labels):
    graph = SocialGraph.from_edges([0, 1], [1, 2], labels=labels, n_nodes=4)  # the last one is tied to nobody
    graph.write(tmp_path / name)
    again = SocialGraph.read(tmp_path / name)
    assert again.neighbor.tolist() == graph.neighbor.tolist()
    assert again.indptr.tolist() == graph.indptr.tolist()
    assert again.labels.tolist() == (labels or [0, 1, 2, 3])
    assert again.labels.dtype.kind == ("O" if labels and isinstance(labels[0], str) else "i")


def test_many_edges(tmp_path):
    n = 3_000
    graph = SocialGraph.from_edges(np.arange(n), (np.arange(n) * 7 + 1) % n)
    graph.write(tmp_path / "a.graphml")
    assert SocialGraph.read(tmp_path / "a.graphml").neighbor.tolist() == graph.neighbor.tolist()


GOOD = '<graphml><graph><node id="a"/><node id="b"/>{}</graph>{}</graphml>'


@pytest.mark.parametrize(
    ("inside", "outside", "message"),
    [
        ('<edge source="a" target="c"/>', "", "edge 1 of 'a.graphml' ends at a node that is not in the file"),
        ('<edge source="a"/>', "", "edge 1 of 'a.graphml' has no target"),
        ("<node/>", "", "node 3 of 'a.graphml' has no id"),
        ('<node id="a"/>', "", "two .* with one label"),
        ('<node id="c"><graph/></node>', "", "nested"),
        ("<hyperedge/>", "", "hyperedges"),
        ("", "<graph/>", "several graphs"),
    ],
)
def test_a_graph_that_is_not_plain_is_refused(tmp_path, inside, outside, message):
    with pytest.raises(UnmaskError, match=message):
        SocialGraph.read(written(tmp_path, GOOD.format(inside, outside)))


def test_other_xml_is_refused(tmp_path):
    with pytest.raises(UnmaskError, match="no graph element"):
        SocialGraph.read(written(tmp_path, "<html><node id='a'/></html>"))


@pytest.mark.parametrize("text", ["", "30 7", DIRECTED[:300], "<graphml><graph></graphml>"])
def test_damaged_files_are_refused(tmp_path, text):
    with pytest.raises(FailedError, match="is not complete XML"):
        SocialGraph.read(written(tmp_path, text))
    (tmp_path / "b.graphml.gz").write_bytes(gzip.compress(DIRECTED.encode())[:100])
    with pytest.raises(FailedError, match="cannot be read"):
        SocialGraph.read(tmp_path / "b.graphml.gz")


@pytest.mark.parametrize("encoding", ["GBK", "foo"])
def test_encodings_that_cannot_be_read_are_refused(tmp_path, encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><graphml><graph><node id="a"/></graph></graphml>'
    with pytest.raises(FailedError, match="as UTF-8"):
        SocialGraph.read(written(tmp_path, text))


def test_entities_that_blow_up_are_refused(tmp_path):
    rounds = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    text = f'<!DOCTYPE g [<!ENTITY e0 "ha">{rounds}]><graphml><graph><node id="&e9;"/></graph></graphml>'
    with pytest.raises(FailedError, match="is not complete XML"):
        SocialGraph.read(written(tmp_path, text))


def test_a_label_that_xml_cannot_hold_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(UnmaskError, match="control character"):
        SocialGraph.from_edges([0], [1], labels=["a", "b\x01"]).write(tmp_path / "a.graphml")
    assert not list(tmp_path.iterdir())
