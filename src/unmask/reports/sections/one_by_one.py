"""One person at a time, or all at once: what the model of one target says of a file, and one campaign against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.reports.facts.game import Alone
from unmask.reports.findings.game import called, capital, shown
from unmask.reports.parts import Bullets, Heading, Loose, Section, grid, lead, notes, parts
from unmask.results.formats import number

ABOUT = (
    "Most models ask what one person is worth to an attacker who pays for the outside data, and for every fine, anew "
    "with each person. Attackers who have the data attack everybody. Both are worked out here on the same groups, "
    "everybody as likely to be in the outside data: what is known of one person, and what becomes of it in a campaign."
)

SOURCE = (
    "Sizes unknown: attackers pay before they know how many candidates a person has. Safe alone: people whom nobody "
    "attacks one at a time; of them in the campaign: how many of these it re-identifies. People re-identified are "
    "expectations. One try: Z. Wan et al. 2015. Alone, sizes known and not known: W. Xia et al. 2015, section 7.2, "
    "undiscounted; its findings by their numbers."
)

SHARE = 0.005
"""Shares of people that differ by less are told as the same."""


def one_by_one_section(alone: Sequence[Alone]) -> Section | None:
    """The section; None where candidates of one person are not alike."""
    if not alone:
        return None
    heading = "One person at a time, or all at once"
    return Section("alone", heading, parts(*_said(alone)), conclusion(alone))


def _said(alone: Sequence[Alone]) -> Iterator[Loose]:
    yield lead(ABOUT)
    kinds = list(dict.fromkeys(one.kind for one in alone))
    for kind in kinds:
        its = [one for one in alone if one.kind == kind]
        if len(kinds) > 1:
            yield Heading(f"Attacker: {kind}", conclusion(its))
        yield Bullets(tuple(findings(its)))
        yield grid(
            ("Protection", "One try", "Alone", "Sizes unknown", "Campaign", "Safe alone", "of them in the campaign"),
            [_row(one) for one in its],
            text=1,
        )
    yield notes([SOURCE])


def _row(one: Alone) -> tuple[str, ...]:
    named = (_people(value) for value in (one.one_try, one.known, one.unknown, one.campaign))
    return shown(one.protection), *named, _people(one.spared[0]), _people(one.spared[1])


def findings(alone: Sequence[Alone]) -> Iterator[str]:
    """The findings of the paper on these releases, and what a campaign makes of each."""
    yield f"Does one try understate the risk (finding 1)? {capital(_one_try(alone))}"
    yield f"Are all candidates tried, some, or none (findings 2 and 3)? {capital(_in_part(alone))}"
    yield f"Do unknown sizes of groups change the risk (findings 4 and 5)? {capital(_unknown(alone))}"


def conclusion(alone: Sequence[Alone]) -> str:
    """Whether groups that are safe alone are safe."""
    worst = max(alone, key=lambda one: one.spared[1])
    if worst.spared[1] == 0:
        anybody = any(one.spared[0] for one in alone)
        return "Whoever is safe alone is safe in a campaign." if anybody else "Nobody is safe alone."
    beyond = f", in groups beyond {worst.reach}" if worst.reach else ""
    safe = f"{_people(worst.spared[0])} of {worst.people:,} people are safe alone{beyond}"
    return f"{_of(worst)}: {safe}; one campaign re-identifies {_few(worst.spared[1])} of them."


def _one_try(alone: Sequence[Alone]) -> str:
    most = max(alone, key=lambda one: one.campaign - one.one_try)
    if most.campaign - most.one_try <= SHARE * most.people:
        return "no: going on and a campaign re-identify no more people."
    ways = f"one try at each re-identifies {_people(most.one_try)} people, going on {_people(most.known)}"
    return f"yes: of {called(most.protection)}, {ways}, one campaign {_people(most.campaign)} of {most.people:,}."


def _in_part(alone: Sequence[Alone]) -> str:
    most = max(alone, key=lambda one: one.tried[1])
    every, some, none = (_people(count) for count in most.tried)
    if most.tried[1]:
        said = f"{_of(most)}, alone, all are tried for {every} people, some for {some}, none for {none}"
    else:
        said = "alone, all candidates of a person are tried or none, on every release"
    partly = [one for one in alone if SHARE < one.campaign / max(one.inside, 1.0) < 1 - SHARE]
    if partly:
        return f"{said}. A campaign leaves candidates untried on {len(partly)} of {len(alone)} releases."
    return f"{said}. A campaign re-identifies everybody who can be, or nobody."


def _unknown(alone: Sequence[Alone]) -> str:
    lower, higher = (max(alone, key=lambda one: one.changed[end]) for end in (0, 1))
    falls = [f"falls for {_people(lower.changed[0])} people of {called(lower.protection)}"] * (lower.changed[0] > 0)
    rises = [f"rises for {_people(higher.changed[1])} of {called(higher.protection)}"] * (higher.changed[1] > 0)
    said = f"alone, the risk {' and '.join([*falls, *rises]) or 'is the same on every release'}"
    other = [one for one in alone if one.blind != (one.campaign > 0)]
    if other:
        return f"{said}. A campaign decides otherwise on {len(other)} of {len(alone)} releases if it knows no sizes."
    return f"{said}. For a campaign it changes nothing: the data are paid for once, and then all sizes are known."


def _of(one: Alone) -> str:
    return capital(called(one.protection))


def _few(value: float) -> str:
    return "fewer than one" if value < 1 else _people(value)


def _people(value: float) -> str:
    return number(value, 0 if value >= 10 or value == int(value) else 1)
