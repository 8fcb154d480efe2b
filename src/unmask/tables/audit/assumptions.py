"""Sentences about the setting of an audit: what each adversary knows, and what the numbers assume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unmask.core.csr_rows import distinct
from unmask.languages import gettext as _
from unmask.results.formats import percent
from unmask.results.names import (
    ACQUAINTANCE,
    COLLECTOR,
    EXPERT,
    INSIDER,
    JOURNALIST,
    MATCHER,
    MODELER,
    OBSERVER,
    ORDER_READER,
    PROSECUTOR,
)
from unmask.results.words import join_names, release_name
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release
from unmask.tables.audit.linked_rows import SEEN
from unmask.tables.audit.membership_audit import CLOSEST, MARGINS, RECORD
from unmask.tables.background import hidden_values
from unmask.tables.control.similarity import Shift
from unmask.tables.knowledge import Knowledge
from unmask.tables.table import Table


def describe_adversaries(release: Release, knowledge: AuditorKnowledge) -> dict[str, str]:
    """Return what each adversary knows, in words that complete "an adversary who ..."."""
    table, original, register = release.table, knowledge.original, knowledge.register
    columns = _describe_columns(release, knowledge)
    if knowledge.synthetic:
        prosecutor = _("knows {columns} of people in the original", columns=columns)
    else:
        prosecutor = _("knows {columns} of people in the table", columns=columns)
    unprotected = table.uncounted or [c for c in table.kept if original is None or c.name in original.names]
    n_released = len(unprotected) + len(table.quasi_identifiers)
    words = {
        PROSECUTOR: prosecutor,
        RECORD: _("knows every released column of people (sensitive ones, too)"),
        MARGINS: _("compares only the frequencies of values in the release with those of people in general"),
        CLOSEST: _("looks only at the distance to the closest record"),
        MODELER: _("learns from all rows how sensitive values depend on {columns}", columns=columns),
        EXPERT: _("{knowledge} and the protection that made the release", knowledge=prosecutor),
        COLLECTOR: _("{knowledge}, and combines all the releases", knowledge=prosecutor),
        MATCHER: _(
            "{knowledge}, and all other columns that are not sensitive, and takes the nearest row", knowledge=prosecutor
        ),
        OBSERVER: _(
            "has seen people {n} times, with {columns} each time, and knows which rows are of one person",
            n=SEEN,
            columns=columns,
        ),
        ACQUAINTANCE: _("knows all {n} released columns that are not sensitive of people in the table", n=n_released),
        INSIDER: _("knows every released column, sensitive ones too, except the one they infer"),
        ORDER_READER: _("has the original in its order and reads only the order of the rows"),
    }
    for name, attack in knowledge.attacks.items():
        words[name] = _("{knowledge} and runs {attack}", knowledge=prosecutor, attack=type(attack).__name__)
    if register is not None:
        shared = join_names([c.name for c in table.quasi_identifiers if c.name in register.names])
        words[JOURNALIST] = _("holds a register of {n} people with {columns}", n=register.n_rows, columns=shared)
    return words


def _describe_columns(release: Release, knowledge: AuditorKnowledge) -> str:
    names = [column.name for column in release.table.quasi_identifiers]
    return f"{join_names(names)}{describe_gaps(knowledge.knowledge)}"


def describe_gaps(knows: Knowledge) -> str:
    """Return what adversaries do not know, or know wrongly, of the quasi-identifiers; "" if they know every cell.

    >>> describe_gaps(Knowledge(None, missing=0.4, columns=3)).replace("\N{NO-BREAK SPACE}", " ")
    ' (3 of them for each person, 40.0 % of cells unknown)'
    """
    columns = knows.columns
    parts = [
        _("{n} of them for each person", n=columns) if isinstance(columns, int) else "",
        _("only {columns}", columns=join_names(columns)) if isinstance(columns, tuple) else "",
        _("{share} of cells unknown", share=percent(knows.missing)) if knows.missing else "",
        _("{share} wrong", share=percent(knows.error)) if knows.error else "",
    ]
    text = ", ".join(filter(None, parts))
    return f" ({text})" if text else ""


def describe_setting(releases: Sequence[Release], knowledge: AuditorKnowledge) -> str:
    """Return the first lines of the report: the attack, and what the adversary knows."""
    table = releases[0].table
    columns = _describe_columns(releases[0], knowledge)
    people = "in the original" if knowledge.synthetic else "in the table"
    values = join_names([f"their {column.name}" for column in table.sensitive]) if table.sensitive else ""
    goals = [*([] if knowledge.synthetic else ["to find their records"]), *([f"to infer {values}"] if values else [])]
    sentences = [f"An adversary knows {columns} of people {people} and tries {' and '.join(goals) or 'nothing'}."]
    if knowledge.register is not None:
        sentences.append(f"Another links every record to a register of {knowledge.register.n_rows:,} people.")
    foreign = [release_name(release.name) for release in releases if release.is_foreign]
    if names := join_names(foreign) if foreign else "":
        sentences.append(f"The rows of {names} are not people of the original, so no record is searched for there.")
    return " ".join(sentences)


def list_assumptions(releases: Sequence[Release], knowledge: AuditorKnowledge, *, crossed: bool) -> Iterator[str]:
    """Yield what the numbers take for granted.

    Parameters
    ----------
    releases : sequence of Release
        All releases.
    knowledge : AuditorKnowledge
        Tables that the auditor has.
    crossed : bool
        Whether an adversary combined the releases.
    """
    table, original = releases[0].table, knowledge.original
    population = table if original is None else original
    yield _MISSING[table.missing]
    if not knowledge.synthetic:
        yield "The prosecutor knows that the target is in the table. A generalized cell matches each value it contains."
        prior = "release" if original is None else "original"
        yield f"Attribute inference uses the sensitive values of matching records. Its prior is that of the {prior}."
        yield _EXCHANGEABLE
    if original is not None and table.sensitive:
        yield _MODELING
        if knowledge.shift is not None and not knowledge.shift.is_different:
            yield _MODELING_CHECK
    if knowledge.population is not None:
        yield f"The release is a simple random sample of {knowledge.population:,} people, for population uniqueness."
    if original is None:
        yield "Without the original, each row is attacked as a person of its class."
    yield f"Unit of counting: {population.unit}."
    yield _EACH_ROW if population.person is None else _EACH_PERSON
    yield from _unreleased(knowledge)
    if knowledge.register is not None:
        yield (
            f"A record's person is in the register with probability {knowledge.coverage:g}, on average over all "
            "records. No person of the register has two records."
        )
    if knowledge.shift is not None:
        yield from _control_people(knowledge.shift)
    yield from _several_releases(len(releases), crossed=crossed)
    with_rows = [release for release in releases if release.has_rows]
    if with_rows:
        yield "An adversary may know every released column. Unchanged columns are compared as exact values."
    if any(release.table.weight is not None for release in with_rows):
        yield "No adversary knows a person's weight. Without --weight it is compared like any other column."
    yield from list_hidden_values(with_rows, original)


_MISSING = {
    "own": "Missing cells: a missing quasi-identifier is a value of its own.",
    "wildcard": "Missing cells: a missing quasi-identifier may be any value.",
    "excluded": "Missing cells: rows with a missing quasi-identifier are left out.",
}

_EXCHANGEABLE = (
    "Inference is exact if people of a class are exchangeable for the adversary. Learning from other classes may do "
    "better."
)

_MODELING = (
    "The modeler reads the rows as data about people in general, also about people without a matching record. "
    "Rows count by the columns in which they agree with a person, adjusted to the shares of the original."
)

_MODELING_CHECK = (
    "Half of the control group, with known values, shows the modeler how far to trust the rows. A person's own value "
    "is never used to infer it."
)

_EACH_ROW = "Each row is one person: k, shares and numbers of people count rows."

_EACH_PERSON = (
    "A person with several rows counts once. The adversary knows one of their rows, drawn at random, and any of their "
    "rows is a hit. The number of people at risk counts each person by their riskiest row."
)


def _unreleased(knowledge: AuditorKnowledge) -> Iterator[str]:
    if knowledge.original is None:
        return
    person, n_people = knowledge.original.person, knowledge.original.n_people
    for name, origin in knowledge.origins.items():
        released = origin[origin >= 0]
        n_missing = n_people - len(distinct(released if person is None else person[released]))
        if n_missing:
            yield (
                f"{release_name(name)} has no row of {n_missing:,} of the {n_people:,} people. They count in averages, "
                "as never found. If they were held back at random, add --hold-back: they become the control group."
            )


def _control_people(shift: Shift) -> Iterator[str]:
    yield (
        f"The {len(shift.weight):,} people of the control group are in no release and are attacked as if they were. "
        f"{describe_shift(shift)}."
    )
    if not shift.is_similar and not shift.is_different:
        yield (
            f"The control group is weighted to resemble the people attacked; {shift.effective:,.0f} people remain in "
            "effect. Weights correct differences in the known columns only."
        )


def describe_shift(shift: Shift) -> str:
    """Return how well the known columns separate the control group from the people attacked."""
    low, high = shift.interval.low, shift.interval.high
    interval = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    resemble = "resemble" if shift.is_similar else "differ from"
    return (
        f"They {resemble} the people attacked: known columns separate the two with an AUC of {shift.auc:.3f}{interval} "
        "(0.5 is chance)"
    )


def _several_releases(n_releases: int, *, crossed: bool) -> Iterator[str]:
    if crossed:
        yield (
            "The adversary who combines the releases has all of them and knows the quasi-identifiers of everybody in "
            "the original. All assignments of records to people are equally likely if a person's records agree in "
            "the unchanged cells."
        )
    elif n_releases > 1:
        yield "Each release is attacked alone. If several are published about the same people, add --together."


def list_hidden_values(releases: Iterable[Release], original: Table | None) -> Iterator[str]:
    """Yield how sensitive cells are treated that a release lacks and the original has."""
    for release in releases:
        name = release_name(release.name)
        for column in release.complete.sensitive:
            if original is None or column.name not in original.names:
                continue
            counts = column.counts
            share = hidden_values(column, counts, original)[0] * counts[column.levels.missing] / counts.sum()
            if share > 0:
                yield (
                    f"{percent(share)} of the {column.name} cells are hidden in {name}. Adversaries "
                    "guess them from rows with a value. For l, t and contributions of columns, a hidden cell is a "
                    "value of its own."
                )
