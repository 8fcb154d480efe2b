"""What an audit of tables says in words: who attacks, what is taken for granted, what was not run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from unmask.reports.data import COLUMNS, CROSSING, INSIDER, ORDER, SEVERAL
from unmask.results.formats import percent
from unmask.results.words import release_name
from unmask.tables.audit.attacked_release import LEARNER, LISTED_ONCE, MECHANISM, NEAREST, PROSECUTOR, REGISTER
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.linked_rows import SEEN
from unmask.tables.audit.membership import TELLING
from unmask.tables.audit.several import counted, unit_of, unreleased
from unmask.tables.background import hidden_values
from unmask.tables.column import Column
from unmask.tables.control.similarity import Shift
from unmask.tables.meanings import undefined_weights
from unmask.tables.table import Table


def adversaries(table: Table, evidence: AuditorKnowledge) -> dict[str, str]:
    """What holders of quasi-identifiers or of a register know, in words that complete "an adversary who ..."."""
    register = evidence.register
    where = "in the original" if evidence.synthetic else "in the table"
    words = {PROSECUTOR: f"knows {_listed(table.quasi_identifiers)} of people who are {where}", **TELLING}
    if evidence.original is not None and table.sensitive:
        words[LEARNER] = f"learns from all rows what people with such {_listed(table.quasi_identifiers)} have"
    if evidence.protections:
        words[MECHANISM] = f"{words[PROSECUTOR]} and the protection that made the release"
    words[CROSSING] = f"{words[PROSECUTOR]}, and crosses all the releases"
    words[NEAREST] = f"{words[PROSECUTOR]}, and all other columns that are not sensitive, and takes the nearest row"
    words[SEVERAL] = (
        f"has seen people {SEEN} times, each time their {_listed(table.quasi_identifiers)}, and reads which rows are "
        "one person's"
    )
    if register is not None:
        shared = [column for column in table.quasi_identifiers if column.name in register.names]
        words[REGISTER] = f"holds a register of {register.n_rows:,} people with {_listed(shared)}"
    return words


def insiders(table: Table, original: Table | None) -> dict[str, str]:
    """What those know who know released columns as they were released, or their order."""
    if table.uncounted:
        return {COLUMNS: _knows_all(len(table.quasi_identifiers) + len(table.uncounted))}
    words, known = {}, None if original is None else original.names
    kept, sensitive = ([c for c in some if known is None or c.name in known] for some in (table.kept, table.sensitive))
    if kept:
        words[COLUMNS] = _knows_all(len(kept) + len(table.quasi_identifiers))
    if sensitive:
        words[INSIDER] = "knows every released column, sensitive ones too, except the one they ask for"
    if original is not None:
        words[ORDER] = "has the original in its order and reads nothing but the order of the rows"
    return words


def _knows_all(n: int) -> str:
    """What somebody knows who knows every one of the n released columns that are not sensitive."""
    return f"knows all {n} released columns that are not sensitive of people who are in the table"


def _listed(columns: Sequence[Column]) -> str:
    names = [column.name for column in columns]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def who(table: Table, evidence: AuditorKnowledge) -> str:
    """The first line of the report: who attacks what, knowing what."""
    asked = [*([] if evidence.synthetic else ["which record is theirs"])]
    after = " and ".join([*asked, *(f"what their {column.name} is" for column in table.sensitive)]) or "nothing"
    whom = "whom the release was made from" if evidence.synthetic else "in the table"
    text = f"An adversary who knows {_listed(table.quasi_identifiers)} of people {whom} asks {after}"
    if evidence.register is None:
        return text + "."
    return text + f"; another links every record to a register of {evidence.register.n_rows:,} people."


def assumptions(table: Table, evidence: AuditorKnowledge) -> Iterator[str]:
    """What the numbers take for granted, a sentence each."""
    prior = "the release's own" if evidence.original is None else "the original's"
    yield f"Missing cells: {_MISSING[table.missing]}."
    if not evidence.synthetic:
        yield "The prosecutor knows that the target is in the table and reads generalized cells by containment."
        yield f"Attribute inference uses the sensitive values of the records that fit; its prior is {prior}."
        yield _EXCHANGEABLE
    if evidence.original is not None and table.sensitive:
        yield _LEARNED + (_TOLD if evidence.shift is not None and not evidence.shift.apart else "")
    if evidence.original is None:
        yield "Without the original, every row is taken as a target whose class the adversary sees."
    yield f"Unit of counting: {unit_of(table, evidence)}."
    yield counted(table, evidence)
    yield from unreleased(evidence)
    if evidence.register is not None:
        yield (
            f"The person behind a record is in the register with probability {evidence.coverage:g}, on average over "
            "all records; nobody there is behind two of them."
        )
    if evidence.shift is not None:
        yield from _beside(evidence.shift)


def alone(releases: Collection[str], crossed: bool) -> Iterator[str]:
    """What is taken for granted of several releases. crossed : whether somebody crosses them"""
    if crossed:
        yield (
            "Who crosses the releases has all of them, knows the quasi-identifiers of everybody in the original, and "
            "takes all ways to give people records for equally likely in which a person's records say the same "
            "wherever cells were left as they are."
        )
    elif len(releases) > 1:
        yield (
            "Each release is attacked alone, as if one of them were published. Where several of the same people are, "
            "crossing them tells more: say so (--together), and somebody does."
        )


def hidden(releases: Mapping[str, Table], original: Table | None) -> Iterator[str]:
    """What is made of sensitive cells that are missing in a release and not in the original."""
    for name, table in releases.items():
        for column in table.sensitive:
            if original is None or column.name not in original.names:
                continue
            counts = table.totals_of(column)
            share = hidden_values(table, column, original)[0] * counts[column.levels.missing] / counts.sum()
            if share > 0:
                yield HIDDEN.format(column.name, release_name(name), percent(share))


HIDDEN = (
    "Of {}, {} hides {} of the cells, which the original states: adversaries guess them from rows that state "
    "theirs. The criteria take a hidden cell for a value of its own, so that l, t and what each column adds say "
    "nothing of what is hidden."
)


def _beside(shift: Shift) -> Iterator[str]:
    """Who control people are, and how far they are like those attacked."""
    yield (
        f"The {len(shift.weight):,} control people took no part in the release and are attacked as if they had. "
        f"{_told_apart(shift)}."
    )
    if shift.alike or shift.apart:
        return
    yield (
        "So control people count as often as people like them are attacked: the weights leave "
        f"{shift.effective:,.0f} of them. That repairs what the known columns tell, and no other difference."
    )


def _told_apart(shift: Shift) -> str:
    """How well the two are told apart."""
    are = "They are like those attacked" if shift.alike else "They are unlike those attacked"
    ends = (shift.interval.low, shift.interval.high)
    interval = "" if None in ends else f" [{ends[0]:.3f}, {ends[1]:.3f}]"
    return f"{are}: what is known of people tells the two apart with an AUC of {shift.auc:.3f}{interval}, 0.5 is chance"


def unlike(evidence: AuditorKnowledge) -> Iterator[tuple[str, str]]:
    """Control people who are so unlike those attacked that nothing is said beside them."""
    if evidence.shift is not None and evidence.shift.apart:
        yield ADDED, f"{_told_apart(evidence.shift)}; draw control people as the others were drawn"


_MISSING = {
    "own": "a missing quasi-identifier is a value of its own",
    "wildcard": "a missing quasi-identifier may be any value",
    "excluded": "rows with a missing quasi-identifier are left out",
}

_EXCHANGEABLE = (
    "It is exact for an adversary to whom the people of a class are exchangeable; one who learns from other classes "
    "who of them has which value may do better."
)

_LEARNED = (
    "The learner takes real people for people like the rows: the values of rows that agree with a person in column "
    "after column count, moved to the shares of the original. They are asked about people whom no record fits, too."
)

_TOLD = (
    " Half of the control people, whose values they know as the holder of a survey does, tell them how far to trust "
    "the rows; nobody's own value has a part in what is believed of them."
)


def columns_known(tables: Mapping[str, Table]) -> Iterator[str]:
    """Which columns of releases in memory adversaries may know."""
    if tables:
        yield KNOWN_COLUMNS
    if any(table.weight is not None for table in tables.values()):
        yield WEIGHT


KNOWN_COLUMNS = "Every released column may be known; those that leave unchanged are compared as exact values."
WEIGHT = (
    "Nobody is taken to know the weight of a person, which is released; without --weight it is a column like others."
)


# --- what was not run -------------------------------------------------------------------------------------------------

_NEEDS_ORIGIN = "needs the origin of the records (--origin)"


def missing_evidence(evidence: AuditorKnowledge, releases: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What could not be asked of releases in memory, and what it needs."""
    without = ", ".join(name for name in releases if name not in evidence.origins)
    if evidence.original is None:
        yield "Realized success", "needs the original table (--original)"
        yield "What all rows say of people like somebody", "needs the original table (--original)"
        yield "The order of the rows", "needs the original table (--original)"
    if without:
        yield f"Which generalized cells of {without} other columns restore", _NEEDS_ORIGIN
    if evidence.original is not None and without:
        yield f"Realized identity success and utility of {without}", _NEEDS_ORIGIN
    if evidence.person is not None and without:
        yield f"Whether columns of {without} say which rows are one person's", _NEEDS_ORIGIN
    yield "Population uniqueness", "not part of this audit: unmask.tables.risk.population estimates it"


def unweighted(tables: Iterable[Table]) -> Iterator[tuple[str, str]]:
    """That weights do not tell how many people of the population a class has."""
    n_rows = max((undefined_weights(table.weight) for table in tables), default=0)
    if n_rows:
        why = f"rows with a missing weight, or one below 1: {n_rows:,}; scale weights to numbers of people"
        yield "Risk by survey weights", why


def left_out(evidence: AuditorKnowledge) -> Iterator[tuple[str, str]]:
    """The adversaries whom somebody left out."""
    yield from ((f"The adversary {name!r}", "left out on request (--without)") for name in evidence.without)


NEED_ROWS = (
    ("Realized success", "needs the original in memory"),
    ("What all rows say of people like somebody", "needs the original in memory"),
    ("The order of the rows", "needs the original in memory"),
    ("Whether columns say which rows are one person's", "needs the table in memory"),
    ("Sensitive values by kept columns, and what columns give away", "needs the table in memory"),
    ("Who is in the table", "needs the table in memory"),
    ("Singling out, and linkability of two parts of a record", "needs the table in memory"),
)
"""What is not asked of releases that an engine counts, and what it needs."""

ADDED = "What people's own records added"

NO_CONTROL = (
    ADDED,
    "not separated from what holds for everybody: needs control people, who are not in it (--control, --hold-back)",
)

NO_REGISTER = ("Linkage to a register of named people", "needs a register (--register)")

UNLINKED = (NO_REGISTER[0], LISTED_ONCE)


def of_nobody(foreign: Iterable[str]) -> Iterator[str]:
    """For the head of a page: releases whose rows are nobody's of the original."""
    if names := " and ".join(map(release_name, foreign)):
        yield f"The rows of {names} are not people of the original, so nobody asks there which record is theirs."


def nobodys(foreign: Mapping[str, float | None]) -> Iterator[tuple[str, str]]:
    """What is not run of such releases, and why. foreign : release -> share of rows that may be people's; None of one
    that is stated to be synthetic.
    """
    for name, share in foreign.items():
        yield f"{_THEIRS} {name}", _SYNTHETIC if share is None else OTHERS.format(percent(share))


def asked_about(doubted: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What is asked of the owner of a release that may be synthetic; doubted : (release, why)."""
    for name, why in doubted:
        yield f"Whether the rows of {name} are people", _ASKED.format(why)


_ASKED = (
    "{}, and each row was taken for one of the people. If it is synthetic, say so (--synthetic); if people were "
    "dropped or cells changed, say whose the rows are (--origin)"
)

_THEIRS = "k, prosecutor_average, prosecutor_max and whose record is whose in"

_SYNTHETIC = "it is synthetic: no released row is a person's"

OTHERS = (
    "its rows are not people of the original: at most {} of them can be, by the quasi-identifiers. They are "
    "synthetic (--synthetic), perturbed or other people's; if each is somebody's all the same, say whose (--origin)"
)


def grouped(not_run: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
    """Measures that were not taken, one line for each adversary and reason; not_run : (measure, of whom, why)."""
    measures: dict[tuple[str, str], dict[str, None]] = {}
    for measure, whose, why in not_run:
        measures.setdefault((whose, why), {})[measure] = None
    for (whose, why), names in measures.items():
        yield f"{', '.join(names)} ({whose})", why
