"""Time limit of an audit of networks: it ends further runs, and the result names those that were left out."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.graphs import SocialGraph
from unmask.graphs.audit import audit

EVER = 1e9


@pytest.fixture(scope="module")
def network() -> SocialGraph:
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 60, (2, 200))
    return SocialGraph.from_edges(*ends[:, ends[0] != ends[1]], n_nodes=60)


def run(network: SocialGraph, **options):
    overlaps = [(0.6, 0.8), (0.7, 0.9)]
    return audit(network, overlaps=overlaps, attacks=["Nar09"], seeds="random:8", **options)


def test_a_passed_time_limit_leaves_one_run_of_each_overlap(network):
    result = run(network, time_limit=1e-9)
    assert {row.note.partition(";")[0] for row in result.rows if row.measure == "recall"} == {"over 1 run"}
    assert dict(result.not_run)["3 further runs"].startswith("the time limit is 1e-09 s, and a run takes about")
    assert "Both networks are made from one, 1 times" in " ".join(result.assumptions)


def test_a_passed_time_limit_leaves_out_other_numbers_of_seeds(network):
    result = run(network, time_limit=1e-9, transition=(3, 8))
    assert dict(result.not_run)["3 seeds on overlap 0.6/0.8"] == "the time limit is 1e-09 s"


def test_a_long_time_limit_changes_nothing(network):
    limited, unlimited = run(network, time_limit=EVER, transition=(3,)), run(network, transition=(3,))
    assert limited.not_run == unlimited.not_run
    assert [row.posterior for row in limited.rows] == pytest.approx(
        [row.posterior for row in unlimited.rows], nan_ok=True
    )


def test_the_duration_of_further_runs_is_reported_after_each_run(network):
    messages: list[str] = []
    run(network, progress=messages.append)
    estimates = [text for text in messages if "further run" in text]
    assert [text.partition(":")[0] for text in estimates] == ["3 further runs", "2 further runs", "1 further run"]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_time_limit_is_above_0(network, seconds):
    with pytest.raises(UnmaskError, match="expected seconds above 0"):
        run(network, time_limit=seconds)


def test_a_time_limit_without_an_attack_is_refused(network):
    with pytest.raises(UnmaskError, match="`time_limit` needs an attack"):
        audit(network, time_limit=5.0)
