"""Every plan in examples/ can be read, and a cell of each of its combinations runs."""

from pathlib import Path

import pytest

from unmask.graphs import datasets
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan

PLANS = sorted((Path(__file__).parent.parent / "examples").glob("*.toml"))


def test_there_are_plans():
    assert "quick.toml" in {path.name for path in PLANS}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_plan_runs(path, monkeypatch):
    """On a network of a quarter of the links, where a plan asks for Epinions."""
    monkeypatch.setitem(datasets._FILES, ("epinions", "network"), datasets._FILES["ca-condmat", "network"])
    plan = read_plan(path)
    first = {}
    for cell in plan.cells():
        first.setdefault((cell.dataset.name, cell.protection.use, cell.adversary.name), cell)
    for cell in first.values():
        rows = run_cell(cell)
        assert rows
        assert all(row.release == cell.protection.name for row in rows)


def test_the_quick_one_is_as_large_as_it_says():
    plan = read_plan(next(path for path in PLANS if path.name == "quick.toml"))
    assert len(plan.cells()) >= 60
    assert {dataset.domain for dataset in plan.datasets} == {"tables", "linkage", "channels", "graphs"}
