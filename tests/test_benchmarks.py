"""Stored and shown rows of `benchmarks/all.py`."""

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


def row(case, *, seconds=None, reason="", race="a race", machine="a fast one"):
    fields = {"shows": "", "found": "", "ratio": None, "peak_mib": 1.0, "clock": "seconds", "is_peer": case != "ours"}
    return fields | {
        "program": "large",
        "group": "parquet",
        "race": race,
        "case": case,
        "seconds": seconds,
        "wall": seconds,
        "not_done": reason,
        "machine": machine,
    }


def test_a_case_that_was_not_tried_keeps_its_row_and_one_that_failed_does_not(benchmarks):
    untried = {"peer": benchmarks.harness.NOT_INSTALLED, "long": benchmarks.harness.LEFT_OUT}
    failed = {"ours": "failed", "slow": "stopped after 3600 s"}
    benchmarks.keep("large", [row(case, seconds=1.0) for case in (*untried, *failed)])
    benchmarks.keep("large", [row(case, reason=reason) for case, reason in (untried | failed).items()])
    rows_kept = {row_kept["case"]: (row_kept["seconds"], row_kept["not_done"]) for row_kept in benchmarks.read_rows()}
    assert rows_kept == dict.fromkeys(untried, (1.0, "")) | {case: (None, reason) for case, reason in failed.items()}


def test_rows_of_other_races_stay_where_a_part_was_run(benchmarks):
    benchmarks.keep("large", [row("ours", seconds=1.0), row("peer", seconds=4.0)])
    benchmarks.keep("large", [row("ours", seconds=2.0)])
    ours, peer = benchmarks.read_rows()
    assert (ours["seconds"], peer["seconds"]) == (2.0, 4.0)
    assert benchmarks.cells(peer, ours)[1:4] == ("2 s", "4 s, peer", "2")  # a ratio of what stands there


def test_no_ratio_is_of_two_machines(benchmarks):
    benchmarks.keep(
        "large", [row("ours", seconds=1.0), row("peer", seconds=4.0), row("ours", seconds=1.0, race="long")]
    )
    benchmarks.keep("large", [row("ours", seconds=2.0, machine="a slow one")])
    assert [(row_kept["race"], row_kept["case"], row_kept["machine"]) for row_kept in benchmarks.read_rows()] == [
        ("a race", "ours", "a slow one"),
        ("long", "ours", "a fast one"),
    ]
    assert [row_kept["race"] for row_kept in benchmarks.marked(benchmarks.read_rows())] == ["a race", "long\u2020"]


def test_a_case_that_was_stopped_is_not_tried_again(benchmarks, monkeypatch):
    harness, cases_tried = benchmarks.harness, []

    def stopped(case, python, limit):
        cases_tried.append(case)
        return harness.Outcome(why=f"stopped after {limit} s")

    monkeypatch.setattr(harness, "once", stopped)
    result = harness.measured(harness.Case("slow", print), SimpleNamespace(peers=None, quick=False, limit=300))
    assert (result.why, len(cases_tried)) == ("stopped after 300 s", 1)


def scale_row(page, size, *, code, seconds):
    return {
        "work": "audit of linkage", "form": "memory", "variant": "few", "size": size, "code": code, "cpu": seconds,
        "wall": seconds, "peak_mib": 1.0, "cores": 2, "load": 0.0, "why": "", "day": "2026-01-01",
        "units": {"items": size, "pairs": size**0.5},
    }  # fmt: skip


def test_rows_of_other_code_expire_and_price_nothing_where_enough_others_are_there(benchmarks):
    page = import_module("scale_page")
    now = page.code_of("audit of linkage")
    old = [scale_row(page, n * 10**6, code="before", seconds=20.0 * n) for n in range(1, 6)]
    new = [scale_row(page, n * 10**6, code=now, seconds=1.0 * n) for n in range(1, 6)]
    assert [page.is_current(row_kept) for row_kept in (old[0], new[0])] == [False, True]
    result = page.fitted([*old, *new], "audit of linkage")
    assert (result.current, result.n) == (True, 5)
    assert result.rates["items"] == pytest.approx(1e-6, rel=0.01)
    expired = page.fitted([*old, *new[:2]], "audit of linkage")
    assert expired.current is False


def test_the_code_of_a_kind_of_work_changes_with_its_files(benchmarks, monkeypatch, tmp_path):
    page = import_module("scale_page")
    (tmp_path / "tables").mkdir()
    monkeypatch.setattr(page, "SOURCE", tmp_path)
    digests = set()
    for text in ("a = 1\n", "a = 2\n"):
        (tmp_path / "tables" / "one.py").write_text(text)
        page.code_of.cache_clear()
        digests.add(page.code_of("Mondrian"))
    page.code_of.cache_clear()
    assert len(digests) == 2


def test_a_run_is_old_when_the_code_that_it_times_has_changed(benchmarks):
    now = row("ours", seconds=1.0) | {"code": benchmarks.digest_code("large"), "day": "2026-11-29", "load": 0.1}
    before = now | {"code": "0", "day": "2026-11-01"}
    never = {key: value for key, value in now.items() if key != "code"} | {"day": "2026-10-01"}
    pages = [benchmarks.measured_on([one | {"packages": []}]) for one in (now, before, never)]
    assert ["*" in page.split("\n\n")[0] for page in pages] == [False, True, True]


def test_expired_rows_are_listed_with_the_command_and_the_minutes_that_renew_them(benchmarks):
    def store(program, **seconds):
        rows = [row(case, seconds=taken) | {"program": program} for case, taken in seconds.items()]
        benchmarks.keep(program, [one | {"code": "0"} for one in rows])

    store("large", ours=60.0, peer=2.0)
    store("tables", ours=1.0)
    benchmarks.keep(
        "graphs", [row("ours", seconds=1.0) | {"program": "graphs", "code": benchmarks.digest_code("graphs")}]
    )
    cells = [line.strip("| ").split(" | ") for line in benchmarks.expired().splitlines()[2:]]
    assert [[cell.strip() for cell in line] for line in cells] == [
        ["python benchmarks/all.py --only tables -- --only parquet", "1", "0.1"],
        ["python benchmarks/all.py --only large -- --only parquet", "2", "1.1"],  # three runs of the short case
    ]


def test_every_program_times_folders_of_the_package(benchmarks):
    package = BENCHMARKS.parent / "src" / "unmask"
    assert all((package / folder).is_dir() for folders in benchmarks.PROGRAMS.values() for folder in folders)
    assert len({benchmarks.digest_code(program) for program in benchmarks.PROGRAMS}) > 1
