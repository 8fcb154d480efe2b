"""What `benchmarks/all.py` keeps of earlier runs, and shows of them."""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = import_module("all")
    monkeypatch.setattr(module, "ROWS", tmp_path / "rows.jsonl")
    return module


def row(case, *, seconds=None, why="", race="a race", machine="a fast one"):
    shown = {"shows": "", "found": "", "ratio": None, "peak_mib": 1.0, "clock": "seconds", "is_peer": case != "ours"}
    return shown | {
        "program": "large",
        "race": race,
        "case": case,
        "seconds": seconds,
        "not_done": why,
        "machine": machine,
    }


def test_a_case_that_was_not_tried_keeps_its_row_and_one_that_failed_does_not(benchmarks):
    untried = {"peer": benchmarks.harness.NOT_INSTALLED, "long": benchmarks.harness.LEFT_OUT}
    failed = {"ours": "failed", "slow": "stopped after 3600 s"}
    benchmarks.keep("large", [row(case, seconds=1.0) for case in (*untried, *failed)])
    benchmarks.keep("large", [row(case, why=why) for case, why in (untried | failed).items()])
    kept = {one["case"]: (one["seconds"], one["not_done"]) for one in benchmarks.kept()}
    assert kept == dict.fromkeys(untried, (1.0, "")) | {case: (None, why) for case, why in failed.items()}


def test_rows_of_other_races_stay_where_a_part_was_run(benchmarks):
    benchmarks.keep("large", [row("ours", seconds=1.0), row("peer", seconds=4.0)])
    benchmarks.keep("large", [row("ours", seconds=2.0)])
    ours, peer = benchmarks.kept()
    assert (ours["seconds"], peer["seconds"]) == (2.0, 4.0)
    assert benchmarks.cells(peer, ours)[1:4] == ("2 s", "4 s, peer", "2")  # a ratio of what stands there


def test_no_ratio_is_of_two_machines(benchmarks):
    benchmarks.keep(
        "large", [row("ours", seconds=1.0), row("peer", seconds=4.0), row("ours", seconds=1.0, race="long")]
    )
    benchmarks.keep("large", [row("ours", seconds=2.0, machine="a slow one")])
    assert [(one["race"], one["case"], one["machine"]) for one in benchmarks.kept()] == [
        ("a race", "ours", "a slow one"),
        ("long", "ours", "a fast one"),
    ]
    assert [one["race"] for one in benchmarks.marked(benchmarks.kept())] == ["a race", "long\u2020"]


def test_a_case_that_was_stopped_is_not_tried_again(benchmarks, monkeypatch):
    harness, tried = benchmarks.harness, []

    def stopped(case, python, limit):
        tried.append(case)
        return harness.Outcome(why=f"stopped after {limit} s")

    monkeypatch.setattr(harness, "once", stopped)
    found = harness.measured(harness.Case("slow", print), SimpleNamespace(peers=None, quick=False, limit=300))
    assert (found.why, len(tried)) == ("stopped after 300 s", 1)
