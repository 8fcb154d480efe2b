"""Two cores share the work on large tables, which changes when things are done and nothing else."""

import numpy as np
import pytest

from unmask.findings.people_at_risk import AtRisk, Watched
from unmask.tables import Mondrian, Table
from unmask.tables.audit import audit, generalization_steps, table_audit, threads


def failing(number: int) -> int:
    if number == 2:
        raise ValueError("no second")
    return number


def test_an_error_comes_where_the_item_would_have_come() -> None:
    result = threads.two_at_once(failing, range(1, 4))
    assert next(result) == 1
    with pytest.raises(ValueError, match="no second"):
        next(result)


def test_an_audit_on_two_cores_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    cells = {"age": rng.integers(20, 60, 300), "zip": rng.integers(0, 40, 300), "ill": rng.integers(0, 4, 300)}
    people = Table.read(cells, quasi_identifiers=["age", "zip"], sensitive="ill")
    release, origin = Mondrian(k=5)(people, rng=rng)
    coarser, finer = Mondrian(k=20)(people, rng=rng)

    def audit_once() -> tuple[str, list[AtRisk]]:
        watched = Watched("row")
        releases, origins = {"fine": release, "coarse": coarser}, {"fine": origin, "coarse": finer}
        return repr(audit(releases, original=people, origin=origins, steps=True, watched=watched)), watched.found

    single, started = audit_once(), []
    for module in (table_audit, generalization_steps):
        monkeypatch.setattr(module, "MIN_ROWS", 1)
        monkeypatch.setattr(
            module, "two_at_once", lambda *functions: (started.append(1), threads.two_at_once(*functions))[1]
        )
    assert audit_once() == single
    assert len(started) == 3
