"""The publisher's game of a few groups by exhaustive search, in fractions: nothing is rounded, nothing is bounded.

An attacker's strategy says after every history what to do next: stop, or try the next candidate of some group. All of
them are gone through, history by history; nothing here comes from the package or from its other oracles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache


@dataclass(frozen=True, order=True)
class Outcome:
    """Worth of a strategy from a history on: before access as believed, and in truth.

    named : chance of 0, 1, 2, ... people re-identified
    """

    worth: Fraction
    fines: Fraction
    named: tuple[Fraction, ...]

    @property
    def people(self) -> Fraction:
        return sum((k * chance for k, chance in enumerate(self.named)), Fraction())


@dataclass(frozen=True)
class Gambler:
    """An attacker in fractions; inside is the chance that a target is in its group.

    caught, actual : chance that a try is detected as they believe, which they plan with, and as it is
    """

    gain: Fraction
    cost: Fraction
    fine: Fraction
    cap: int
    caught: Fraction
    inside: Fraction
    link: Fraction = Fraction()
    actual: Fraction | None = None


def best_outcome(gambler: Gambler, sizes: Sequence[int]) -> Outcome:
    """The best of all strategies; of those that are worth the same the one that stops, then the first."""
    nobody = (Fraction(1), *(Fraction() for _ in sizes))

    @cache
    def after(failures: tuple[int | None, ...], fines: int) -> Outcome:
        """Return the best outcome after these failures of each group (None: one try succeeded)."""
        index = Outcome(Fraction(), Fraction(), nobody)
        for option in options(failures, fines):
            index = option if option.worth > index.worth else index
        return index

    def options(failures: tuple[int | None, ...], fines: int) -> Iterator[Outcome]:
        """Yield the outcome of trying each group next."""
        for group, j in enumerate(failures):
            if j is None or j == sizes[group]:
                continue
            people = sizes[group] / gambler.inside  # the target is any of them with the same chance
            parts = []
            for is_right, caught, *chances in _draws(gambler, 1 / (people - j)):
                failures_after = (*failures[:group], None if is_right else j + 1, *failures[group + 1 :])
                fined = caught and fines < gambler.cap
                parts.append((*chances, is_right, fined, after(failures_after, fines + fined)))
            yield _mixed(gambler, gambler.cost + (gambler.link if j == 0 else 0), parts)

    return after((0,) * len(sizes), 0)


def _draws(gambler: Gambler, p_right: Fraction) -> Iterator[tuple[bool, bool, Fraction, Fraction]]:
    """Yield whether a try is right, whether it is detected, and both probabilities: believed and true."""
    true = gambler.caught if gambler.actual is None else gambler.actual
    for is_right, luck in ((True, p_right), (False, 1 - p_right)):
        for caught, believed, actual in ((True, gambler.caught, true), (False, 1 - gambler.caught, 1 - true)):
            yield is_right, caught, luck * believed, luck * actual


def _mixed(
    gambler: Gambler, cost: Fraction, parts: Sequence[tuple[Fraction, Fraction, bool, bool, Outcome]]
) -> Outcome:
    """One try, over what may come of it."""
    worth, fines, people = -cost, Fraction(), [Fraction()] * len(parts[0][-1].named)
    for believed, actual, is_right, fined, ahead in parts:
        worth += believed * (gambler.gain * is_right - gambler.fine * fined + ahead.worth)
        fines += actual * (fined + ahead.fines)
        for k, likely in enumerate(ahead.named):
            if actual * likely:
                people[k + is_right] += actual * likely
    return Outcome(worth, fines, tuple(people))
