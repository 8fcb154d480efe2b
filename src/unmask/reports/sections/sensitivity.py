"""The sensitivity of the decision of a game: each number at a low and a high value."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.economics.audit.parameters import format_parameter
from unmask.economics.audit.sentences import format_amount
from unmask.reports.facts.game import WITHHELD, End, GameData, Sensitive
from unmask.reports.findings.game import capital, number_name, offered, whose
from unmask.reports.parts import Loose, Section, grid, notes, parts
from unmask.results.words import plural

LEAD = (
    "Each line plays the game again with one number at a low and at a high value, all others as assumed. These are the "
    "ends of a range that the document gives, else half and double the assumed value; a probability is at most 1."
)

READ = (
    "Left to you: by the offer on this page. Better offer: it leaves more than that at this value; none: the decision "
    "stays. A number whose half or double is not plausible should be a range."
)


def sensitivity_section(data: GameData) -> Section:
    """Write the section."""
    title, said = "Sensitivity of the decision", decisive(data) or "No number alone makes another offer better."
    return Section("sensitivity", title, parts(*_table(data)), said)


def decisive(data: GameData) -> str:
    """Name the number that costs most if it is at its low or high value, in a sentence; "" if none changes anything."""
    one = next((one for one in data.sensitivity if one.changes), None)
    if one is None:
        return ""
    end = max((one.low, one.high), key=lambda end: end.payoff - end.taken)
    of = "" if one.of == "publisher" else f" of {one.of}"
    assumed, value = (format_parameter(one.parameter, value) for value in (one.value, end.value))
    name = number_name(one.parameter).lower()
    return f"The most sensitive number: {name}{of}, {assumed} here; at {value} the better choice is {_best(end)}."


def _table(data: GameData) -> Iterator[Loose]:
    """Yield the table, the numbers that change the decision first."""
    yield LEAD
    yield grid(
        ("Number", "Of", "Assumed", "Low", "Left to you", "High", "Left to you", "Better offer"),
        [_row(one) for one in data.sensitivity],
        text=2,
        listed=True,
    )
    changing = sum(one.changes for one in data.sensitivity)
    yield notes([f"The decision changes with {changing} of {plural(len(data.sensitivity), 'number')}.", READ])


def _row(one: Sensitive) -> tuple[str, ...]:
    values = {end: format_parameter(one.parameter, end.value) for end in (one.low, one.high)}
    ends = [text for end, value in values.items() for text in (value, format_amount(end.taken))]
    better = "; ".join(f"at {value}: {_best(end)}" for end, value in values.items() if end.changes)
    assumed = format_parameter(one.parameter, one.value)
    return number_name(one.parameter), whose(one.of), assumed, *ends, capital(better) or "none"


def _best(end: End) -> str:
    return "not to release" if end.best.protection == WITHHELD else offered(end.best)
