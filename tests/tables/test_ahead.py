"""Two cores share the work on large tables, which changes when things are done and nothing else."""

from collections.abc import Iterator

import numpy as np
import pytest

from unmask.cases.tables import ahead, audit, standard, steps
from unmask.tables import Mondrian, Table


def failing() -> Iterator[int]:
    yield 1
    raise ValueError("no second")


def test_an_error_comes_where_the_item_would_have_come() -> None:
    items = ahead.ahead(failing())
    assert next(items) == 1
    with pytest.raises(ValueError, match="no second"):
        next(items)


def test_an_audit_on_two_cores_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    cells = {"age": rng.integers(20, 60, 300), "zip": rng.integers(0, 40, 300), "ill": rng.integers(0, 4, 300)}
    people = Table.read(cells, quasi_identifiers=["age", "zip"], sensitive="ill")
    release, origin = Mondrian(k=5)(people, rng=rng)

    def found() -> object:
        return audit(release, original=people, origin=origin, steps=True)

    alone, threads = found(), []
    for module in (standard, steps):
        monkeypatch.setattr(module, "MANY", 1)
    monkeypatch.setattr(standard, "ahead", lambda items: (threads.append("ahead"), ahead.ahead(items))[1])
    monkeypatch.setattr(steps, "two_at_once", lambda *of: (threads.append("both"), ahead.two_at_once(*of))[1])
    assert repr(found()) == repr(alone)
    assert threads == ["ahead", "ahead", "both"]
