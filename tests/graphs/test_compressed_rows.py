"""Compressed rows: an oracle by dictionaries, and memory-mapped files give the same rows."""

from pathlib import Path

import numpy as np
import pytest

from unmask.core.errors import FailedError
from unmask.graphs import SocialGraph, compressed_rows
from unmask.graphs.compressed_rows import allocate, compress_links
from unmask.graphs.files import node_numbers


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Map all arrays, and work on few links at once."""
    sizes = {"MAX_LINKS_IN_MEMORY": 9, "LINKS_PER_BLOCK": 7, "_LINKS_PER_RUN": 20, "_ENTRIES_PER_PART": 15}
    for name, size in sizes.items():
        monkeypatch.setattr(compressed_rows, name, size)
    monkeypatch.setattr(node_numbers, "MAX_LINKS_IN_MEMORY", 9)


def draw_links(seed: int, n_links: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return links with loops, repetitions and both directions."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(1, 25))
    u, v = rng.integers(0, n_nodes, (2, n_links))
    return u, v, n_nodes


def check_rows(u: np.ndarray, v: np.ndarray, n_nodes: int) -> None:
    """Compare the rows of links with dictionaries of directions."""
    rows = compress_links(u, v, n_nodes)
    directed = {(a, b) for a, b in zip(u.tolist(), v.tolist(), strict=True) if a != b}
    expected = {
        node: [
            (neighbor, ((node, neighbor) in directed) + 2 * ((neighbor, node) in directed))
            for neighbor in range(n_nodes)
            if {(node, neighbor), (neighbor, node)} & directed
        ]
        for node in range(n_nodes)
    }
    actual = {
        node: list(zip(rows.neighbor[start:end].tolist(), rows.way[start:end].tolist(), strict=True))
        for node, (start, end) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True))
    }
    assert actual == expected
    assert (rows.n_loops, rows.n_distinct) == (int((u == v).sum()), len(directed))


@pytest.mark.parametrize("seed", range(20))
def test_rows_hold_every_link_at_both_ends_with_its_directions(seed: int) -> None:
    check_rows(*draw_links(seed, 10 * seed))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.usefixtures("small_blocks")
def test_mapped_rows_hold_every_link_at_both_ends_with_its_directions(seed: int) -> None:
    check_rows(*draw_links(seed, 10 * seed + 10))


@pytest.mark.parametrize("form", ["{} {}", "person{} person{}", "{}0000000 {}0000000"])
def test_mapped_file_is_read_as_one_in_memory(form: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    u, v, _ = draw_links(7, 90)
    path = tmp_path / "links.txt"
    path.write_text("".join(form.format(*ends) + "\n" for ends in zip(u.tolist(), v.tolist(), strict=True)))
    full_graph = SocialGraph.read(path)
    request.getfixturevalue("small_blocks")

    mapped = SocialGraph.read(path)

    assert mapped.neighbor.base is not None
    assert mapped.dropped == full_graph.dropped
    for name in ("indptr", "neighbor", "labels", "way"):
        assert np.array_equal(getattr(mapped, name), getattr(full_graph, name)), name


def test_mapped_array_that_exceeds_the_disk_is_an_error() -> None:
    with pytest.raises(FailedError, match="temporary directory"):
        allocate(1 << 50, np.int8, is_mapped=True)
