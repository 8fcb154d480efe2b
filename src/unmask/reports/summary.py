"""The results in plain language: what they say of singling out, linkability and inference, and of a motivated intruder.

The three questions are those of the Article 29 Working Party, Opinion 05/2014 on anonymization techniques (WP216); the
motivated intruder is that of the Information Commissioner's Office. No verdict is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unmask.core.errors import visible
from unmask.reports.data import APART, ORIGINAL, ReportData, Scope
from unmask.reports.findings.rows import LINKAGE, did, risky, without
from unmask.reports.sections.closing import not_run_groups
from unmask.reports.words import IDENTITY, MEMBERSHIP, PARTS, row_estimate
from unmask.reports.words import SINGLING as SINGLED
from unmask.results import AuditResult, Row, StudyRow
from unmask.results.formats import number, percent
from unmask.results.preferred_rows import SUCCESS, mentioned_rows, preferred_rows
from unmask.results.words import plural, release_name

LINES = 25
"""The most that a summary has."""

SHOWN = 3
"""Findings below each question."""

CLOSING = (
    "These are measurements of the attacks named here, after WP216 and the ICO's guidance; they are no legal verdict."
)


SINGLING = "Singling out: can somebody's record be picked out, or its owner be re-identified?"

INFERENCE = "Inference: can somebody's value be told with more than guessing gives?"

INTRUDER = (
    "Motivated intruder test: would somebody determined, with public sources and no special skills, re-identify people?"
)

ALONE = (
    "  These adversaries put items together; they re-identify nobody and infer no value, so nothing else is asked here."
)
"""Where that is all they do, the other questions have no answer to miss."""

MEMBERS = "Membership: can somebody tell who is in the table?"

LINKABILITY = "Linkability: can records of one person be linked, with each other or with another data set?"


@dataclass(frozen=True)
class _Told:
    """The strongest result of one adversary: where it was found, who they are in words, and the row."""

    where: str
    who: str
    row: Row


def summary(data: ReportData | AuditResult) -> str:
    """At most 25 lines: for each question which adversary and measure answer it, what was found, what was not tested.

    * Singling out: adversaries who re-identify people or guess what fits one of them, and the worst-off person.
    * Linkability: adversaries who put items, or two parts of a record, of one person together, and those who
      re-identify people by means of another data set about them: a register, or a network.
    * Inference: adversaries who say what somebody's value is.
    * Motivated intruder: the strongest of those who re-identify, what they are taken to know, and whether it pays.
    """
    data = ReportData.of(data)
    told = _list_strongest(data)
    named = [one for one in told if one.row.target == IDENTITY]
    single = [one for one in told if one.row.target in (IDENTITY, SINGLED)]
    linked = [one for one in told if one.row.target in (LINKAGE, PARTS) or _by_other_data(one)]
    inferred = [one for one in told if one.row.target not in (IDENTITY, SINGLED, LINKAGE, PARTS, MEMBERSHIP)]
    members = [one for one in told if one.row.target == MEMBERSHIP]
    if told and len(linked) == len(told) and not named:
        answers = [*_question(LINKABILITY, linked, ""), ALONE]
    else:
        answers = [
            *_question(SINGLING, single, "re-identifies people"),
            *_worst_off(data),
            *_question(LINKABILITY, linked, "links items, or re-identifies people by a register or a network"),
            *_question(INFERENCE, inferred, "infers"),
            *(_question(MEMBERS, members, "", most=1) if members else ()),
            *_intruder(data, named),
        ]
    lines = [f"{data.title}. {data.who}", *answers, *_not_tested(data), CLOSING]
    assert len(lines) <= LINES
    return "\n".join(map(visible, lines))


# --- what was found --------------------------------------------------------------------------------------------------


def _list_strongest(data: ReportData) -> list[_Told]:
    """Return for each adversary and target the strongest result; of a study, in each dataset."""
    scope = Scope(data)
    several = data.is_decided or len(scope.releases) > 1
    measures = tuple(dict.fromkeys((*data.success, *SUCCESS, "singled_out", "parts_linked")))
    return [
        _Told(_name_place(row) if several else "", scope.subject(row.adversary), row)
        for rows in _rows_by_dataset(data)
        for row in _strongest([*(mentioned_rows(rows) if data.is_decided else preferred_rows(rows, measures)).values()])
    ]


def _name_place(row: Row) -> str:
    name = release_name(row.release)
    return f"{row.dataset}, {name}" if isinstance(row, StudyRow) else name


def _rows(data: ReportData) -> list[Row]:
    """Return the rows of protected releases, or all rows if no release is protected."""
    return [row for rows in _rows_by_dataset(data) for row in rows]


def _rows_by_dataset(data: ReportData) -> Iterator[list[Row]]:
    """Yield the rows of protected releases of each dataset, or all its rows; an audit has one dataset."""
    datasets: dict[str, list[Row]] = {}
    for row in data.rows:
        if isinstance(row, StudyRow):
            datasets.setdefault(row.dataset, []).append(row)
        elif row.adversary not in APART:
            datasets.setdefault("", []).append(row)
    unprotected = {ORIGINAL} if data.result is None else data.result.unprotected
    for rows in datasets.values():
        yield [row for row in rows if row.release not in unprotected] or rows


def _strongest(rows: Sequence[Row]) -> list[Row]:
    """Return for each adversary and target the row of the release where they do best."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = row.adversary, row.target
        if key not in found or risky(row) > risky(found[key]):
            found[key] = row
    return list(found.values())


def _by_other_data(one: _Told) -> bool:
    return one.row.target == IDENTITY and bool(one.row.linked_to or one.row.measure == "recall")


def _question(question: str, told: Sequence[_Told], who_would: str, *, most: int = SHOWN) -> Iterator[str]:
    yield question
    ordered = sorted(told, key=lambda one: -risky(one.row))
    if not ordered:
        yield f"  Not tested: no adversary here {who_would}."
    for one in ordered[:most]:
        yield _found(one)
    if len(ordered) > most > 1:
        yield f"  And {len(ordered) - most} more, none of them stronger."


def _found(one: _Told) -> str:
    name = one.who.partition(" (")[0]
    measure = one.row.measure.replace("_", " ")
    text = f"From {one.where}, {name}" if one.where else name[0].upper() + name[1:]
    shown = f"  {text} {did(one.row)}; {without(one.row)} ({measure})."
    return f"{shown} No gain is shown." if one.row.shows_no_gain else shown


def _worst_off(data: ReportData) -> Iterator[str]:
    """How sure somebody can be of the person most at risk; k where it is known."""
    sure = [row for row in _rows(data) if (row.target, row.measure) == (IDENTITY, "success_probability")]
    parts = []
    if sure:
        worst = max(sure, key=lambda row: row.worst)
        chance = f"{percent(worst.worst)}, {worst.adversary} believes ({release_name(worst.release)})"
        parts.append(f"the best guess about the person most at risk is right with {chance}")
    sizes: Mapping[str, Mapping[str, object]] = data.criteria
    known = {name: float(k) for name, own in sizes.items() if isinstance(k := own.get("k"), int | float)}
    if known:
        least = min(known, key=lambda name: known[name])
        parts.append(f"at least {number(known[least])} rows fit everybody (k, {release_name(least)})")
    if parts:
        text = "; ".join(parts)
        yield f"  {text[0].upper()}{text[1:]}."


def _intruder(data: ReportData, named: Sequence[_Told]) -> Iterator[str]:
    """What an outsider would have to know; that they can learn it from public sources, no audit can tell."""
    yield INTRUDER
    if not named:
        yield "  Not tested: no adversary here re-identifies people."
        return
    best = max(named, key=lambda one: risky(one.row))
    yield f"  The strongest here reaches {row_estimate(best.row)}: {best.who}."
    yield "  To be judged by people: whether an intruder could learn what they are taken to know."
    yield from _reckoned(data)


def _reckoned(data: ReportData) -> Iterator[str]:
    """Whether an attack pays: one campaign against all people where that is known, else attacks on one person alone."""
    result = data.result
    told = [block.sentence for block in result.blocks if block.name == "price"] if result else []
    together = [row for row in _rows(data) if row.measure == "campaign_success"]
    alone = [row for row in _rows(data) if row.measure == "rational_access"]
    if told:
        yield f"  {told[0]}"
    elif together:
        most = max(together, key=lambda row: row.posterior)
        share = f"up to {row_estimate(most)}" if most.posterior else "nobody: none pays"
        where = f"{most.adversary}, {release_name(most.release)}"
        yield f"  One campaign against all people re-identifies {share} ({where})."
    elif alone:
        most = max(alone, key=lambda row: row.posterior)
        share, where = row_estimate(most), release_name(most.release)
        yield f"  For {most.adversary}, who reckons, attacking {share} of people one by one pays ({where})."
    else:
        yield "  Not tested: whether such an attack pays; name an attacker to find out."


def _not_tested(data: ReportData) -> Iterator[str]:
    reasons = [f"{'; '.join(things[:2])}: {why}" for things, _, why in not_run_groups(data.not_run)]
    tables = {} if data.result is None else data.result.tables_by_name
    n_cells = sum(tables["missing"].values("cells")) if "missing" in tables else 0
    told = [f"{plural(n_cells, 'cell')} without a result"] if n_cells else []
    shown = [*told, *reasons[:2], *([f"{len(reasons) - 2} more, see the report"] if len(reasons) > 2 else [])]
    yield "Not run: " + ("; ".join(shown) if shown else "nothing of what was asked for") + "."
