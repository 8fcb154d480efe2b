"""How wrong the numbers of a game may be: offers over ranges, or how far each assumption may be off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.reports.facts.game import GameData, Judged, Ranged, Wrong
from unmask.reports.findings.game import broken, capital, money, number_name, offered, shown, terms, whose
from unmask.reports.findings.price import amount, parameter_value
from unmask.reports.parts import Heading, Loose, Section, grid, notes, parts
from unmask.reports.words import plural

WRONG = (
    "Every number was given as a point, and none is known that well. Each line changes one number and keeps all "
    "others: between the two values the choice on this page stays better than the best of the other protections and "
    "the same one, also at the most that the document may ask, and than not to release. A number that you doubt beyond "
    "them should be a range, from the least to the most that you can imagine (see unmask game --help)."
)

LOOKED = "A number is followed down to a 64th of what was assumed, and up to 64 times; any: it stays better."

REGRET = (
    "The regret of an offer is how much more another one may bring at the same numbers, where these are at their worst "
    "for it. Take the offer of least regret if no number within a range is more likely to you than another."
)


def how_wrong(data: GameData) -> Section:
    """The section."""
    return Section("ranges", "How wrong the numbers may be", parts(*_ranges(data)), _told(data))


def _told(data: GameData) -> str:
    if data.judged:
        return f"At most {amount(data.judged[0].regret[1])} is regretted, over {plural(len(data.ranged), 'range')}."
    return delicate(data) or "No number alone makes another of these choices better, within a factor of 64."


def delicate(data: GameData) -> str:
    """The assumption that may be least wrong, in a sentence; "" where none matters."""
    if not data.wrong or not _matters(data.wrong[0]):
        return ""
    one = data.wrong[0]
    value, other = broken(one)
    of = "" if one.of == "publisher" else f" of {one.of}"
    said = parameter_value(one.parameter, one.value)
    better = "not to release" if other is None else offered(other)
    return (
        f"Most delicate: {number_name(one.parameter).lower()}{of}, {said} here; {value}, the better choice is {better}."
    )


def _ranges(data: GameData) -> Iterator[Loose]:
    """Offers over all ranges and what each number does, or how wrong each number may be."""
    if not data.judged:
        yield WRONG
        yield grid(
            ("Number", "Of", "Assumed", "Holds from", "Holds to", "Better beyond"),
            [_wrong_row(one) for one in data.wrong if _matters(one)],
            text=2,
            listed=True,
        )
        yield notes([*_idle(data.wrong), LOOKED])
        return
    yield REGRET
    yield grid(
        ("Protection", "Terms", "On average", "At worst", "At best", "Greatest regret"),
        [_judged_row(one) for one in data.judged],
        text=2,
    )
    yield Heading("What each number does", _widest(data.ranged))
    yield grid(
        ("Number", "Of", "From", "To", "Left at worst", "Left at best", "Another choice from", "Worth knowing"),
        [_ranged_row(one) for one in data.ranged],
        text=2,
    )
    worth = f"Knowing all of them before choosing is worth {amount(data.knowing)} on average"
    yield notes([f"{worth}; averages are over even grids."])


def _matters(one: Wrong) -> bool:
    return one.low is not None or one.high is not None


def _idle(wrong: Sequence[Wrong]) -> list[str]:
    """How many numbers change nothing."""
    count = sum(not _matters(one) for one in wrong)
    return [f"{plural(count, 'other number')} may be as wrong without making another choice better."] if count else []


def _wrong_row(one: Wrong) -> tuple[str, ...]:
    sides = (("below", one.below), ("above", one.above))
    better = "; ".join(f"{side}: {offered(other)}" for side, other in sides if other is not None)
    assumed = parameter_value(one.parameter, one.value)
    low, high = _end(one, one.low, "no less"), _end(one, one.high, "no more")
    return number_name(one.parameter), whose(one.of), assumed, low, high, capital(better)


def _end(one: Wrong, end: float | None, just: str) -> str:
    """Where the choice stops being better, in words."""
    said = "any" if end is None else parameter_value(one.parameter, end)
    return just if said == parameter_value(one.parameter, one.value) else said


def _judged_row(one: Judged) -> tuple[str, ...]:
    amounts = (amount(value) for value in (one.mean, *one.payoff))
    return shown(one.offer.protection), terms(one.offer), *amounts, money(one.regret)


def _ranged_row(one: Ranged) -> tuple[str, ...]:
    values = [one.low, one.high, *(one.switches[:1] if one.switches else ())]
    low, high, *switch = (parameter_value(one.parameter, value) for value in values)
    other = f"{switch[0]} ({shown(one.switches[1])})" if one.switches else "never"
    ends = (amount(one.worst), amount(one.best))
    return number_name(one.parameter), whose(one.of), low, high, *ends, other, amount(one.worth)


def _widest(ranged: Sequence[Ranged]) -> str:
    most = max(ranged, key=lambda one: one.best - one.worst)
    if most.best == most.worst:
        return "None of them alone changes what is left to you."
    return f"{number_name(most.parameter)} moves what is left to you most."
