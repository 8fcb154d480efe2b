"""A file in a random dialect is read correctly, or it is a question with the right answer among its options."""

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.graphs.random_files import damage, draw_file, outcome, read, redress
from unmask.core.errors import UnmaskError
from unmask.graphs import SocialGraph


def test_no_random_file_is_misread_and_options_of_questions_lead_to_its_edges(tmp_path):
    outcomes = Counter(outcome(draw_file(seed, tmp_path)) for seed in range(150))
    assert set(outcomes) <= {"right", "asked"}
    assert outcomes["asked"] <= 7


NETWORKS = {  # people and edges by an independent count
    "graphs/CA-GrQc.txt.gz": (5242, 14484),
    "graphs/CA-HepTh.txt.gz": (9877, 25973),
    "graphs/advogato.txt.gz": (6539, 39285),
    "graphs/email-Enron.txt.gz": (36692, 183831),
    "graphs/email-Eu-core.txt.gz": (1005, 16064),
    "graphs/facebook_combined.txt.gz": (4039, 88234),
    "graphs/karate.txt": (34, 78),
    "graphs/soc-Epinions1.txt.gz": (75879, 405740),
    "graphs/wiki-Vote.txt.gz": (7115, 100762),
    "graphs/pairs/allmovie_tmdb/allmovie.edges.txt.gz": (6011, 124709),
    "graphs/pairs/allmovie_tmdb/tmdb.edges.txt.gz": (5713, 119073),
    "graphs/pairs/acm_dblp/acm.edges.txt.gz": (9872, 39561),
    "graphs/pairs/acm_dblp/dblp.edges.txt.gz": (9916, 44808),
    "graphs/pairs/douban/offline.edges.txt.gz": (1118, 1511),
    "graphs/pairs/douban/online.edges.txt.gz": (3906, 8164),
}


@pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")
@pytest.mark.parametrize("name", NETWORKS)
def test_public_networks_are_read_without_a_question(name):
    graph = SocialGraph.read(Path(os.environ["UNMASK_DATA"]) / name)
    assert (graph.n_nodes, graph.n_edges) == NETWORKS[name]


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_line_is_never_dropped_in_silence(tmp_path, seed):
    rng = random.Random(seed)
    rows = [f"u{rng.randrange(60)},u{rng.randrange(60)},{rng.random():.3f}" for _ in range(rng.choice([60, 4000]))]
    data = "\n".join(["source,target,share", *rows, ""]).encode()
    (tmp_path / "whole.csv").write_bytes(data)
    (tmp_path / "damaged.csv").write_bytes(damage(rng, data))
    assert read(tmp_path / "whole.csv")[1]
    with pytest.raises(UnmaskError, match=r"line \d+ |missing end") as refused:
        read(tmp_path / "damaged.csv")
    assert refused.value.exit_code in (1, 2)


@pytest.mark.parametrize("seed", range(40))
def test_line_ends_marks_and_blank_lines_change_nothing(tmp_path, seed):
    rng = random.Random(seed)
    rows = [f"Jörg {rng.randrange(60)};Ann {rng.randrange(60)};{rng.random():.3f}" for _ in range(300)]
    text = "\n".join(["giver;taker;share", *rows, ""])
    (tmp_path / "plain.csv").write_text(text)
    (tmp_path / "dressed.csv").write_bytes(redress(rng, text))
    assert read(tmp_path / "plain.csv", two_mode=False) == read(tmp_path / "dressed.csv", two_mode=False)


def test_two_columns_of_years_are_no_ends_while_two_columns_of_names_could_be(tmp_path):
    drawn = draw_file(117_289, tmp_path, (12, 30, 80, 300, 1000))
    assert drawn.facts["kinds"][:4] == ["year", "year", "end", "end"]
    assert outcome(drawn) == "asked"
