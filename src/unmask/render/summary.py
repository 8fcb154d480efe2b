"""A result in plain language: singling out, linkability, inference, and the motivated intruder.

The three questions are those of the Article 29 Working Party, Opinion 05/2014 on anonymization techniques (WP216); the
motivated intruder is that of the Information Commissioner's Office. No verdict is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.core.errors import visible
from unmask.findings.row_words import row_estimate
from unmask.findings.sentences import describe_result, severity
from unmask.render.closing import not_run_groups
from unmask.results import Result, Row, StudyRow
from unmask.results.formats import number, percent
from unmask.results.names import APART, IDENTITY, LINKAGE, MEMBERSHIP, PARTS
from unmask.results.names import SINGLING as SINGLED
from unmask.results.rows import ORIGINAL, SUCCESS, mentioned_rows, preferred_rows
from unmask.results.scope import Scope
from unmask.results.words import plural, release_name

MAX_LINES = 25
"""Lines of a summary."""

MAX_FINDINGS = 3
"""Findings below each question."""

CLOSING = "These measurements of the attacks above follow WP216 and the ICO's guidance. They are not a legal verdict."

SINGLING = "Singling out: can an adversary isolate or re-identify the record of one person?"

INFERENCE = "Inference: can an adversary infer a value better than by guessing?"

INTRUDER = (
    "Motivated intruder test: would a determined person with public sources and no special skills re-identify people?"
)

LINKAGE_ONLY = "  These adversaries only group items. They re-identify no person and infer no value."
"""Note if no adversary answers the other questions."""

MEMBERS = "Membership: can an adversary find out who is in the table?"

BY_NETWORK = "  An adversary above re-identifies people by another network. This links the records of both networks."
"""Answer about linkability if people are re-identified by a network: the recall is the answer about singling out."""

LINKABILITY = "Linkability: can records of one person be linked, with each other or with another data set?"


@dataclass(frozen=True)
class _Outcome:
    """The strongest outcome of one adversary.

    place   : release and dataset; "" if there is only one
    subject : adversary in words
    row     : success
    """

    place: str
    subject: str
    row: Row


def summary(result: Result) -> str:
    """Return at most 25 lines: for each question its adversaries and measures, the findings, and what was not tested.

    * Singling out: adversaries who re-identify people or guess what fits one person, and the highest risk.
    * Linkability: adversaries who link items, or two parts of a record, of one person, and adversaries who re-identify
      people with a register or another network.
    * Inference: adversaries who infer people's values.
    * Motivated intruder: the strongest adversary who re-identifies people, their knowledge, and whether it pays.
    """
    result = result.without_small()
    outcomes = _list_strongest(result)
    identified = [outcome for outcome in outcomes if outcome.row.target == IDENTITY]
    single = [outcome for outcome in outcomes if outcome.row.target in (IDENTITY, SINGLED)]
    linked = [outcome for outcome in outcomes if outcome.row.target in (LINKAGE, PARTS) or _by_other_data(outcome)]
    inferred = [
        outcome for outcome in outcomes if outcome.row.target not in (IDENTITY, SINGLED, LINKAGE, PARTS, MEMBERSHIP)
    ]
    members = [outcome for outcome in outcomes if outcome.row.target == MEMBERSHIP]
    if outcomes and len(linked) == len(outcomes) and not identified:
        answers = [*_question(LINKABILITY, linked, ""), LINKAGE_ONLY]
    else:
        answers = [
            *_question(SINGLING, single, "re-identifies people"),
            *_describe_highest_risk(result),
            *_question(
                LINKABILITY,
                [outcome for outcome in linked if not _by_network(outcome)],
                "links items, or re-identifies people by a register or a network",
                note=BY_NETWORK if any(map(_by_network, linked)) else "",
            ),
            *_question(INFERENCE, inferred, "infers"),
            *(_question(MEMBERS, members, "", limit=1) if members else ()),
            *_intruder(result, identified),
        ]
    lines = [f"{result.title}. {result.setting}", *answers, *_not_tested(result), CLOSING]
    assert len(lines) <= MAX_LINES
    return "\n".join(map(visible, lines))


# --- outcomes --------------------------------------------------------------------------------------------------


def _list_strongest(result: Result) -> list[_Outcome]:
    """Return for each adversary and target the strongest outcome; of a study, in each dataset."""
    scope = Scope(result)
    several = result.decision is not None or len(scope.releases) > 1
    measures = tuple(dict.fromkeys((*result.preferred_measures, *SUCCESS, "singled_out", "parts_linked")))
    return [
        _Outcome(_name_place(row) if several else "", scope.subject(row.adversary), row)
        for rows in _rows_by_dataset(result)
        for row in _strongest(
            [*(mentioned_rows(rows) if result.decision is not None else preferred_rows(rows, measures)).values()]
        )
    ]


def _name_place(row: Row) -> str:
    name = release_name(row.release)
    return f"{row.dataset}, {name}" if isinstance(row, StudyRow) else name


def _rows(result: Result) -> list[Row]:
    """Return the rows of protected releases, or all rows if no release is protected."""
    return [row for rows in _rows_by_dataset(result) for row in rows]


def _rows_by_dataset(result: Result) -> Iterator[list[Row]]:
    """Yield the rows of protected releases of each dataset, or all its rows; an audit has one dataset."""
    datasets: dict[str, list[Row]] = {}
    for row in result.rows:
        if isinstance(row, StudyRow):
            datasets.setdefault(row.dataset, []).append(row)
        elif row.adversary not in APART:
            datasets.setdefault("", []).append(row)
    for rows in datasets.values():
        yield [row for row in rows if row.release not in result.unprotected] or rows


def _strongest(rows: Sequence[Row]) -> list[Row]:
    """Return for each adversary and target the row of the release where they do best."""
    rows_by_attack: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = row.adversary, row.target
        if key not in rows_by_attack or severity(row) > severity(rows_by_attack[key]):
            rows_by_attack[key] = row
    return list(rows_by_attack.values())


def _by_other_data(outcome: _Outcome) -> bool:
    return outcome.row.target == IDENTITY and bool(outcome.row.linked_to or _by_network(outcome))


def _by_network(outcome: _Outcome) -> bool:
    return outcome.row.target == IDENTITY and outcome.row.measure == "recall"


def _question(
    question: str, outcomes: Sequence[_Outcome], deed: str, *, limit: int = MAX_FINDINGS, note: str = ""
) -> Iterator[str]:
    """Yield a question and the strongest outcomes.

    deed : verb phrase of adversaries who would answer the question
    note : a further answer
    """
    yield question
    ordered = sorted(outcomes, key=lambda outcome: -severity(outcome.row))
    if note:
        yield note
    elif not ordered:
        yield f"  Not tested: no adversary here {deed}."
    for outcome in ordered[:limit]:
        yield _describe_result(outcome)
    if len(ordered) > limit > 1:
        yield f"  And {len(ordered) - limit} more, none of them stronger."


def _describe_result(outcome: _Outcome) -> str:
    name = outcome.subject.partition(" (")[0]
    measure = outcome.row.measure.replace("_", " ")
    text = f"From {outcome.place}, {name}" if outcome.place else name[0].upper() + name[1:]
    line = f"  {text} {describe_result(outcome.row)} ({measure})."
    return f"{line} No gain is shown." if outcome.row.shows_no_gain else line


def _describe_highest_risk(result: Result) -> Iterator[str]:
    """Yield the highest risk of a person, and k if it is known."""
    rows = [row for row in _rows(result) if (row.target, row.measure) == (IDENTITY, "success_probability")]
    parts = []
    if rows:
        worst = max(rows, key=lambda row: row.worst)
        parts.append(f"the highest risk is {percent(worst.worst)} ({worst.adversary}, {release_name(worst.release)})")
    sizes = {name: criteria for name, criteria in result.criteria.items() if name != ORIGINAL}
    k_by_release = {
        name: float(k) for name, criteria in sizes.items() if isinstance(k := criteria.get("k"), int | float)
    }
    if k_by_release:
        smallest = min(k_by_release, key=lambda name: k_by_release[name])
        parts.append(f"at least {number(k_by_release[smallest])} rows match each person (k, {release_name(smallest)})")
    if parts:
        text = "; ".join(parts)
        yield f"  {text[0].upper()}{text[1:]}."


def _intruder(result: Result, identified: Sequence[_Outcome]) -> Iterator[str]:
    """Yield the knowledge that an outsider needs. No audit can show if public sources provide it."""
    yield INTRUDER
    if not identified:
        yield "  Not tested: no adversary here re-identifies people."
        return
    strongest = max(identified, key=lambda outcome: severity(outcome.row))
    yield f"  The strongest adversary here reaches {row_estimate(strongest.row)}: {strongest.subject}."
    yield "  People must judge if an intruder could obtain this knowledge."
    yield from _describe_economics(result)


def _describe_economics(result: Result) -> Iterator[str]:
    """Yield whether an attack pays: one campaign against all people, else attacks on single people."""
    sentences = [block.sentence for block in result.blocks if block.name == "price"]
    campaigns = [row for row in _rows(result) if row.measure == "campaign_success"]
    single_attacks = [row for row in _rows(result) if row.measure == "rational_access"]
    if sentences:
        yield f"  {sentences[0]}"
    elif campaigns:
        highest = max(campaigns, key=lambda row: row.posterior)
        share = f"up to {row_estimate(highest)}" if highest.posterior else "no person, since no campaign pays"
        source = f"{highest.adversary}, {release_name(highest.release)}"
        yield f"  One campaign against all people re-identifies {share} ({source})."
    elif single_attacks:
        highest = max(single_attacks, key=lambda row: row.posterior)
        share, source = row_estimate(highest), release_name(highest.release)
        yield f"  For {highest.adversary} it pays to attack {share} of people one by one ({source})."
    else:
        yield "  Not tested: does such an attack pay? Add --attacker."


def _not_tested(result: Result) -> Iterator[str]:
    reasons = [f"{'; '.join(things[:2])}: {reason}" for things, _, reason in not_run_groups(result.not_run)]
    tables = result.facts_by_name
    n_cells = sum(tables["missing"].values("cells")) if "missing" in tables else 0
    cells = [f"{plural(n_cells, 'cell')} without a result"] if n_cells else []
    lines = [*cells, *reasons[:2], *([f"{len(reasons) - 2} more, see the report"] if len(reasons) > 2 else [])]
    yield "Not run: " + ("; ".join(lines) if lines else "nothing") + "."
