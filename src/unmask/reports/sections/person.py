"""What a release means for one person: who is inside, what is known of everybody, what their own record added."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.reports.data import Scope
from unmask.reports.findings.rows import added_most, told_most
from unmask.reports.parts import Section, Terms
from unmask.reports.words import points, row_estimate
from unmask.results import Row
from unmask.results.formats import percent
from unmask.results.words import release_name

INSIDE, EVERYBODY, OWN = "Who is inside?", "What is known of everybody?", "What did your own record add?"


def person_section(scope: Scope) -> Section | None:
    """The three answers, where control people were given; of several releases, of the one that gives most away."""
    rows = added_most(scope)
    answers = {
        INSIDE: tuple(_inside(scope)),
        EVERYBODY: tuple(_everybody(scope, row) for row in rows),
        OWN: tuple(_own(scope, row) for row in rows),
    }
    items = tuple((question, said) for question, said in answers.items() if said)
    if not items:
        return None
    told = "Asked of people in the table, and of control people, who are like them and whose records took no part."
    return Section("person", "What it means for one person", (Terms(items),), told, open=True)


def _inside(scope: Scope) -> Iterator[str]:
    row = told_most(scope)
    if row is None:
        return
    if row.low is not None and row.low <= row.prior:
        yield (
            f"Nothing shows that an adversary can tell: they are right about {row_estimate(row)} of people"
            f"{_from(scope, row)}, and a coin about half."
        )
    else:
        who = scope.subject(row.adversary)
        yield (
            f"{who[:1].upper()}{who[1:]} tells for {row_estimate(row)} of people whether they are in the table"
            f"{_from(scope, row)}; a coin, for half."
        )


def _everybody(scope: Scope, row: Row) -> str:
    assert row.control is not None
    tells = (
        "this of whoever is like them, in it or not" if row.control > row.prior else "nothing that guessing does not"
    )
    return (
        f"{_value(row)}: inferred for {percent(row.control)} of people who are not in the table{_from(scope, row)}; "
        f"guessing gives {percent(row.prior)}. The release tells {tells}."
    )


def _own(scope: Scope, row: Row) -> str:
    assert row.control is not None
    shown = row.excess_low is not None and row.excess_low > 0
    some = f"{points(row)} on average" if shown else f"nothing that shows ({points(row)})"
    return (
        f"{_value(row)}: {some}. It is inferred for {row_estimate(row)} of people in the table{_from(scope, row)}, and "
        f"for {percent(row.control)} of those who are not."
    )


def _value(row: Row) -> str:
    return row.target[:1].upper() + row.target[1:]


def _from(scope: Scope, row: Row) -> str:
    return f", from {release_name(row.release)}" if len(scope.protected) > 1 else ""
