"""Shared facts and rows have no count of one to nine people."""

import dataclasses
import importlib
import inspect
import types
import typing
from collections.abc import Iterator, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from unmask.results import Result, Row
from unmask.results.change import Change
from unmask.results.distribution import Distribution
from unmask.tables.audit.quasi_identifiers import GeneralizationStep
from unmask.tables.audit.result import TableFacts, add_steps, make_result

WHOLE = {
    "about the whole file, or all who were asked": {
        "people", "n", "n_people", "n_drawn", "n_judged", "n_observations", "drawn_from", "rows", "common", "items",
        "subjects", "counted", "source_nodes", "target_nodes",
    },
    "criteria that a report is for, and levels of a protection": {"k", "l"},
    "matched numbers, which pages allow": {"names", "steps"},
    "no people": {
        "secrets", "observations", "worst_off", "samples", "distinct", "key", "values", "source_edges", "target_edges",
        "similar", "n_seeds", "runs", "spread_in", "min_size", "clusters", "partitions", "missed", "untested",
        "parameters", "thresholds", "tornado_size", "sizes", "largest_attacked",
    },
}  # fmt: skip
"""Columns with whole numbers that count no few people, by reason: a new column is suppressed, or is put here."""

EXEMPT = frozenset().union(*WHOLE.values())

FACTS = {"distribution": tuple[Distribution, ...], "changes": tuple[Change, ...]}


def hints(kind: type) -> dict[str, object]:
    if hasattr(kind, "_fields"):
        return typing.get_type_hints(kind)
    found: dict[str, object] = {}
    for one in reversed(kind.__mro__[:-1]):
        known = {"PriceFacts": object, **vars(typing), **vars(importlib.import_module(one.__module__))}
        for name, written in vars(one).get("__annotations__", {}).items():
            found[name] = eval(written, known) if "ClassVar" not in written else None
    return found


def made(kind: object, n: int) -> object:
    """A value of a type, in which every whole number is n."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return made(inner[0], n)
    if origin in (typing.Union, types.UnionType):
        return made(int if int in inner else next(one for one in inner if one is not type(None)), n)
    if origin is typing.Literal:
        return inner[0]
    if origin is tuple:
        return (made(inner[0], n),) if inner[-1] is Ellipsis else tuple(made(one, n) for one in inner)
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return {made(inner[0], n): made(inner[1], n)}
    if inspect.isclass(origin) and issubclass(origin, Sequence):
        return [made(inner[0], n)]
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        of = hints(kind)
        return kind(**{name: made(of[name], n) for name in of if of[name] is not None})
    return {bool: True, int: n, float: 0.5, str: "x"}[kind]


def counts(value: object) -> Iterator[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, Mapping | tuple | list):
        yield from (n for inner in (value.values() if isinstance(value, Mapping) else value) for n in counts(inner))


def small(found: Result) -> set[str]:
    """Columns of what may be handed on that have a count of one to nine."""
    shown = found.without_small()
    rows = [*shown.results, *(row for table in shown.tables.values() for row in table)]
    return {name for row in rows for name, value in row.items() for n in counts(value) if 0 < n < 10}


ROW = made(Row, 50)


@given(n=st.integers(1, 9))
def test_no_fact_of_a_table_states_a_count_of_few_people(n):
    facts = {name: made(kind, n) for name, kind in FACTS.items()}
    criteria = {"r": {"k": 3, "unique_rows": n, "rows_missing": n, "rows_excluded": n}}
    of = hints(TableFacts)
    measured = {name: made(of[name], n) for name in of if name not in ("criteria", "utility", "price")}
    steps = made(tuple[GeneralizationStep, ...], n)
    result = add_steps(make_result("t", (ROW,), TableFacts(criteria=criteria, **measured)), steps)
    found = dataclasses.replace(result, criteria=criteria, **facts)
    assert small(found) <= EXEMPT


@given(n=st.integers(1, 9), drawn=st.integers(10, 500))
def test_no_row_states_how_few_people_were_not_judged(n, drawn):
    row = dataclasses.replace(ROW, n_people=drawn, n_drawn=drawn, n_judged=drawn - n)
    (shown,) = Result(title="t", setting="w", rows=(row,)).without_small().rows
    assert not 0 < shown.n_drawn - shown.n_judged < 10
    again = Result(title="t", setting="w", rows=(shown,)).without_small().rows
    assert again == (shown,)
