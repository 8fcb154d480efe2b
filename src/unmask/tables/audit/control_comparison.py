"""Findings that compare members with the control group: membership, own records, singling out, linkability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unmask.findings.row_words import points, row_estimate
from unmask.findings.sentences import describe_result
from unmask.results import Block, Chart, Fact, Row, View
from unmask.results.formats import SPACE, percent
from unmask.results.names import MEMBERSHIP, PARTS, RARE, SINGLING
from unmask.results.rows import ORIGINAL, PreferredRows
from unmask.results.words import join_names, start_with_release

COMPARED = ("singled_out_of_as_many", "parts_linked")
"""Measures of singling out and of linkability that are compared with the control group."""

ONE, SOME, WHOLE, BOX = "one value", "some columns", "whole row", "key in a box"
LINKER = "linker"

WORDS: Mapping[str, str] = {
    ONE: "guesses that a value of one released row belongs to one person only",
    SOME: "guesses that two to four columns of a released row fit one person only",
    WHOLE: "guesses that a whole released row fits one person only",
    BOX: "guesses that one person in the box of a class has the hash that a random key picks",
    LINKER: "has some columns of people from one source, others from another, and puts them together",
}
"""Adversary -> words that complete "an adversary who ..."."""

OWN_RECORDS = (
    "The control group resembles the attacked people, and its records are not in the release. The success of the same "
    "adversary on the control group holds for all people; the excess is what people's own records added, with a 95 % "
    "interval for people like these. Dots are attacked people, the black tick is the control group. The best on it "
    "is the highest success of an adversary with the same knowledge on the control group."
)

MEMBERS = (
    "It can be a secret that a person is in a table at all, for example in a table of a clinic. Half of the judged "
    "people are in the table. Dots are the share of members that an adversary recognizes if a given share of other "
    "people is taken for members; the black tick is guessing. The AUC is the probability that a person of the table "
    "looks more like a member than another person does. Rare people are the rarest twentieth. A single score is not a "
    "verdict, because an adversary combines scores."
)

SINGLED_OUT = (
    "The adversary guesses, from the release alone, a combination of values that fits one person only. A guess is "
    "right if exactly one person of the table fits. Guesses that hold for too many people in general do not count. "
    "Guessing is the highest success of such guesses without the release. Added is the success beyond the control "
    "group, with as many people of both kinds, because fewer guesses are right for fewer people."
)

KEY_IN_BOX = (
    " For a key in a box, the adversary draws a random key that picks one row of a class on average, and guesses that "
    "the record of one person in its box is picked. If all records differ, that is right for about "
    f"37{SPACE}% of classes, for any k."
)

LINKED = (
    "The adversary has some columns of people from one source and other columns from another, and matches the two by "
    "their similarity to released rows. Each person's other part is among those of as many people."
)


def control_blocks(heads: PreferredRows[Row], rows: Sequence[Row], words: Mapping[str, str]) -> Iterator[Block]:
    """Yield the findings for each question of the audit; `words` complete "an adversary who ..."."""
    rows = [row for row in rows if row.release != ORIGINAL]
    several = len({row.release for row in rows}) > 1
    own_rows = [
        row for key, row in heads.items() if row.excess is not None and key[0] != ORIGINAL and key[2] != MEMBERSHIP
    ]
    members = [row for key, row in heads.items() if key[2] == MEMBERSHIP and key[0] != ORIGINAL]
    if own_rows or members:
        yield _person_block(_largest_excess(own_rows), members, words, several=several)
    if own_rows:
        yield _own_record_block(own_rows)
    if members:
        yield _membership_block(members, rows, words, several=several)
    singled, linked = ([row for row in rows if row.measure == measure] for measure in COMPARED)
    if singled:
        yield _singling_out_block(singled, rows, words, several=several)
    if linked:
        sentence = _describe_linked(max(linked, key=_certainty), words, several=several)
        baseline = "prior" if all(row.control is None for row in linked) else "control"
        chart = _compare(PARTS, COMPARED[1], "People whose parts are linked", baseline=baseline)
        yield Block("linkability", "Can they link two parts of a record?", sentence, (chart,), _views(PARTS), LINKED)


def _views(*targets: str) -> tuple[View, ...]:
    return tuple(View("measures", where={"target": target}) for target in targets)


def _compare(target: str, measure: str, title: str, *, baseline: str = "control") -> Chart:
    return Chart(
        "dots", "measures", "posterior", "release", "adversary", title=title, baseline=baseline, low="low",
        high="high", where={"target": target, "measure": measure},
    )  # fmt: skip


def _subject(row: Row, words: Mapping[str, str]) -> str:
    return f"an adversary who {words.get(row.adversary, row.adversary)}"


def _largest_excess(own_rows: Sequence[Row]) -> list[Row]:
    """Return for each target the row with the largest excess."""
    targets = dict.fromkeys(row.target for row in own_rows)
    return [
        max((row for row in own_rows if row.target == target), key=lambda row: row.excess or 0.0) for target in targets
    ]


def _certainty(row: Row) -> tuple[float, float]:
    return -1.0 if row.excess_low is None else row.excess_low, row.posterior


# --- one person ------------------------------------------------------------------------------------------------------

INSIDE, EVERYBODY, OWN = "Who is inside?", "What is known of everybody?", "What did your own record add?"


def _person_block(own_rows: Sequence[Row], members: Sequence[Row], words: Mapping[str, str], *, several: bool) -> Block:
    """Return answers for one person, each about the release that reveals most."""
    member = max(members, key=lambda row: row.posterior, default=None)
    facts = [] if member is None else [Fact(INSIDE, _describe_inside(member, words, several=several))]
    facts += [Fact(EVERYBODY, _describe_everybody(row, several=several)) for row in own_rows]
    facts += [Fact(OWN, _describe_own(row, several=several)) for row in own_rows]
    sentence = "For people in the table, and for the control group: similar people who are not in the release."
    return Block("person", "What it means for one person", sentence, facts=tuple(facts), open=True, is_finding=False)


def _describe_inside(row: Row, words: Mapping[str, str], *, several: bool) -> str:
    if row.low is not None and row.low <= row.prior:
        text = f"no adversary is shown to tell: they are right for {row_estimate(row)} of people, a coin for half."
    else:
        text = (
            f"{_subject(row, words)} tells for {row_estimate(row)} of people whether they are in it; a coin for half."
        )
    return start_with_release(text, row.release, several=several)


def _describe_everybody(row: Row, *, several: bool) -> str:
    control = row.control or 0.0
    meaning = "The release reveals this about all people like them, in the table or not."
    if control <= row.prior:
        meaning = "The release reveals no more than guessing."
    rates = f"{percent(control)} of people not in the table (guessing: {percent(row.prior)})"
    text = f"{row.target} is inferred for {rates}."
    return f"{start_with_release(text, row.release, several=several)} {meaning}"


def _describe_own(row: Row, *, several: bool) -> str:
    is_significant = row.excess_low is not None and row.excess_low > 0
    added = f"{points(row)} on average" if is_significant else f"nothing that is shown ({points(row)})"
    rates = f"{row_estimate(row)} of people in the table, and for {percent(row.control or 0.0)} of others"
    text = f"{row.target} is inferred for {rates}: {added}."
    return start_with_release(text, row.release, several=several)


# --- own records and membership --------------------------------------------------------------------------------------


def _own_record_block(own_rows: Sequence[Row]) -> Block:
    largest = max(own_rows, key=lambda row: row.excess or 0.0)
    several = len({row.release for row in own_rows}) > 1
    sentence = f"own records add {points(largest)} to what is known of people's {largest.target}."
    if (largest.excess_low or 0.0) <= 0:
        sentence = f"people's own records are not shown to reveal their {largest.target} ({points(largest)})."
    sentence = start_with_release(sentence, largest.release, several=several)
    charts = tuple(
        _compare(target, row.measure, target) for target, row in {row.target: row for row in own_rows}.items()
    )
    heading = "What people's own records added"
    return Block("added", heading, sentence, charts, introduction=OWN_RECORDS, is_finding=False)


def _membership_block(members: Sequence[Row], rows: Sequence[Row], words: Mapping[str, str], *, several: bool) -> Block:
    best_row = max(members, key=lambda row: row.posterior)
    by_measure = {row.measure: row for row in rows if (row.release, row.adversary, row.target) == _key(best_row)}
    sentence = f"{_subject(best_row, words)} {describe_result(best_row)}."
    rates = (by_measure.get(f"true_positive_rate_at_{share}") for share in ("0.01", "0.1"))
    if (row := next(filter(None, rates), None)) is not None:
        alarms = _alarms(row.measure)
        sentence += f" With {alarms} among other people, {row_estimate(row)} of the members are recognized."
    if (row := by_measure.get("membership_success_at_most")) is not None:
        sentence += f" The epsilon of the protection limits every adversary to {percent(row.posterior)}."
    measures = dict.fromkeys(row.measure for row in rows if row.measure in RATES)
    charts = tuple(
        _compare(MEMBERSHIP, measure, f"Members recognized at {_alarms(measure)}", baseline="prior")
        for measure in measures
    )
    noted = [*members, *(row for row in rows if row.measure == "epsilon_at_least" and row.target == MEMBERSHIP)]
    notes = [*dict.fromkeys(f"{row.adversary}: {row.note}." for row in noted if row.note)]
    if missing := [_alarms(name) for name in RATES if name not in measures]:
        notes.append(f"There are too few people in the control group for {join_names(missing)}.")
    return Block(
        "membership", "Can they tell who is in the table?",
        start_with_release(sentence, best_row.release, several=several),
        charts, _views(MEMBERSHIP, RARE), MEMBERS, tuple(notes),
    )  # fmt: skip


RATES = tuple(f"true_positive_rate_at_{share}" for share in ("0.1", "0.01", "0.001"))
"""Measures of the members recognized at a rate of false alarms."""


def _key(row: Row) -> tuple[str, str, str]:
    return row.release, row.adversary, row.target


def _alarms(measure: str) -> str:
    return f"{100 * float(measure.rpartition('_')[2]):g}{SPACE}% false alarms"


# --- singling out and linkability ------------------------------------------------------------------------------------


def _singling_out_block(
    singled: Sequence[Row], rows: Sequence[Row], words: Mapping[str, str], *, several: bool
) -> Block:
    boxes, guesses = ([row for row in singled if (row.adversary == BOX) == box] for box in (True, False))
    sentences = []
    if guesses:
        strongest = max(guesses, key=_certainty)
        total = next(
            (row for row in rows if row.measure == "singled_out" and row.adversary == strongest.adversary), strongest
        )
        sentences.append(_describe_guesses(strongest, total, words, several=several))
    if boxes:
        sentences.append(_describe_boxes(max(boxes, key=_certainty), words, several=several))
    chart = _compare(SINGLING, COMPARED[0], "Guesses that are right, of as many people")
    introduction = SINGLED_OUT + (KEY_IN_BOX if boxes else "")
    heading = "Can they single a person out?"
    return Block("wp216", heading, " ".join(sentences), (chart,), _views(SINGLING), introduction)


def _describe_guesses(row: Row, total: Row, words: Mapping[str, str], *, several: bool) -> str:
    text = (
        f"{_subject(row, words)} is right with {row_estimate(total)} of {total.n:,} guesses. Among as many people of "
        f"both kinds, {percent(row.posterior)} of the guesses single out a person in the table and "
        f"{percent(row.control or 0.0)} a control person: {_describe_cost(row)}."
    )
    return start_with_release(text, row.release, several=several)


def _describe_boxes(row: Row, words: Mapping[str, str], *, several: bool) -> str:
    text = (
        f"{_subject(row, words)} is right for {row_estimate(row)} of {row.n:,} classes, and for "
        f"{percent(row.control or 0.0)} with the control group: {_describe_cost(row)}."
    )
    return start_with_release(text, row.release, several=several)


def _describe_linked(row: Row, words: Mapping[str, str], *, several: bool) -> str:
    rate = f"{row_estimate(row)} of {row.n:,} people; guessing gives {percent(row.prior)}"
    text = f"{_subject(row, words)} is right about {rate}"
    control = "" if row.control is None else f", and the control group {percent(row.control)}: {_describe_cost(row)}"
    return start_with_release(f"{text}{control}.", row.release, several=several)


def _describe_cost(row: Row) -> str:
    """Return the cost of being in the table, if its interval excludes 0."""
    if (row.excess_low or 0.0) > 0:
        return f"being in the table costs {points(row)}"
    return f"no cost of being in the table is shown ({points(row)})"
