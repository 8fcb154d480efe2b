"""Files of networks: read links, write graphs."""

from unmask.graphs.files.edge_lists import EdgeListOptions
from unmask.graphs.files.link_reading import read_links
from unmask.graphs.files.node_numbers import LinkList
from unmask.graphs.files.writing import write_graph

__all__ = ["EdgeListOptions", "LinkList", "read_links", "write_graph"]
