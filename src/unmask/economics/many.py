"""The publisher's game over very many releases: bounds on every move at once, exact answers where they decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from unmask.economics.attacker import Attacker
from unmask.economics.campaign import campaigner
from unmask.economics.exploitation import FINES, SUCCESS, TIE, VALUE, Floats
from unmask.economics.game import Expected, Publisher, Terms
from unmask.economics.prices import sunk_plans
from unmask.economics.releases import Ints, Releases, at_most, closely, roughly, unfined
from unmask.economics.response import Bounds, Raid
from unmask.errors import UnmaskError

STEPS: Final = (0.03, 0.1, 0.3)
"""Shares of the gain by which it is moved to bound how many people are re-identified."""

ALL: Final = slice(None)

SAME: Final = 1e-9
"""Share of a payoff by which another one may be higher and be the same."""


@dataclass(eq=False)
class Answers:
    """What is known of the best campaign against each release, the price of access not counted; (2, n) at least, most.

    worth, named, fines, reached : as in `Raid`
    exact : (n,) whether the campaign was solved
    close : whether they are `closely` bounded
    """

    worth: Floats
    named: Floats
    fines: Floats
    reached: Floats
    exact: NDArray[np.bool_]
    close: bool

    @classmethod
    def of(cls, attacker: Attacker, releases: Releases, at_least: int | None, *, close: bool = False) -> Self:
        """Bounds for all releases by what groups are worth alone.

        The worth Y is bounded by `roughly` or `closely`. It is convex in the gain G with the slope N, so that N is
        between (L(G) - U(G - e)) / e and (U(G + e) - L(G)) / e for bounds L and U of Y at these gains; it is no more
        than without fines, as no campaign is better for a try that would not be made then: it may only be fined.
        Where fines cannot run out all but the probability of so many people is exact; an arrest leaves the sum of what
        groups are worth alone as a bound.
        """
        attacker = replace(campaigner(attacker), access_cost=0.0)
        games, n = releases.alike(attacker), releases.people.shape[0]
        apart = not attacker.arrest and not (attacker.capped and attacker.fine)
        if apart or not attacker.gain:
            plan = sunk_plans(attacker, games)
            worth, named, fines = (np.stack([releases.summed(plan[row])] * 2) for row in (VALUE, SUCCESS, FINES))
            found = cls(worth, named, fines, np.zeros((2, n)), np.full(n, at_least is None), True)
        else:
            close = close or attacker.arrest
            worth, named, fines = _bounds(attacker, releases, close)
            found = cls(worth, named, fines, np.zeros((2, n)), np.zeros(n, bool), close)
        found.count(at_least, releases.summed((games.inside > 0).astype(np.float64)))
        return found

    def count(self, at_least: int | None, most: Floats) -> None:
        """Bound the probability of so many people by Markov's inequality and its reverse; most : (n,) targets."""
        if at_least is not None:
            low = (self.named[0] - (at_least - 1)) / np.maximum(most - at_least + 1, 1)
            self.reached = np.clip(np.stack([low, self.named[1] / at_least]), 0.0, 1.0) * (most >= at_least)

    def narrowed(self, other: Self) -> None:
        """Take in other bounds of the same."""
        self.close, some = self.close or other.close, ~self.exact
        for of in ("worth", "named", "fines", "reached"):
            (low, high), (least, most) = getattr(self, of), getattr(other, of)
            high = np.where(some, np.minimum(high, most), high)
            setattr(self, of, np.stack([np.where(some, np.minimum(np.maximum(low, least), high), low), high]))

    def know(self, place: int, worth: Bounds, gain: float) -> None:
        """Take in what a campaign is worth; costs are not below 0, so it re-identifies worth / gain people at least."""
        self.worth[:, place] = worth
        self.named[0, place] = max(self.named[0, place], worth.low / gain)

    def solved(self, place: int, raid: Raid) -> None:
        """Take in a campaign that was solved."""
        found = (raid.worth, raid.re_identified, raid.fines, raid.reached)
        for array, bounds in zip((self.worth, self.named, self.fines, self.reached), found, strict=True):
            array[:, place] = bounds
        self.exact[place] = True

    def at_most(self, which: NDArray[np.bool_], worth: float) -> None:
        """No campaign against these is worth more."""
        self.worth[1, which] = np.minimum(self.worth[1, which], worth)

    def at_least(self, which: NDArray[np.bool_], worth: float, gain: float) -> None:
        """One against these is worth so much, and so many people re-identified, since costs are not below 0."""
        self.worth[0, which] = np.maximum(self.worth[0, which], worth)
        self.named[0, which] = np.maximum(self.named[0, which], worth / gain)


def _bounds(attacker: Attacker, releases: Releases, close: bool) -> Iterator[Floats]:
    """(2, n) worth, people and fines of campaigns under a cap or an arrest."""
    close = close and not attacker.arrest
    (low, high), games = (closely if close else roughly)(attacker, releases), releases.alike(attacker)
    yield np.stack([low, high])
    tried = np.minimum(games.size, attacker.max_tries or games.size) / games.size
    worth_it = sunk_plans(unfined(attacker), games)[VALUE] > 0
    least, most = low / attacker.gain, releases.summed(worth_it * games.inside * tried)
    for by in (step * attacker.gain for step in STEPS):
        moved = (replace(attacker, gain=attacker.gain + e) for e in (-by, by))
        less, more = (at_most(one, releases) if close else roughly(one, releases)[1] for one in moved)
        least, most = np.maximum(least, (low - less) / by), np.minimum(most, (more - low) / by)
    yield np.stack([np.minimum(least, most), most])
    fines = 1 if attacker.arrest else attacker.max_fines
    yield np.stack([np.zeros_like(low), np.full_like(low, fines)])


@dataclass(eq=False)
class ManyReleases:
    """The publisher's game over very many releases, such as the nodes of a lattice, at terms that are listed.

    publisher, attackers : as in `PublisherGame`
    releases : kind of attacker -> the releases as they find them
    utility  : (n,) share of the benefit that is left of each
    levels   : (n, d) a release is coarser than those whose levels are all as low or lower: its groups are unions of
               theirs. Any column of different numbers where nothing is known of that.
    whole    : (n,) where nobody is left out of the release
    terms    : what may be asked
    gap      : share of the benefit by which another move may be worth more than the one that is found

    Moves are solved from the largest bound on, until no bound exceeds the best that is known by more than the gap; at 0
    the optimum is exact. Bounds of all moves come from groups alone (`Answers.of`), closely of the kinds
    that leave the best open, and from solved ones by a theorem:

    Where every target's group is as large or larger, and as likely or less to have the target, and tries are no less
    likely to be detected after more failures, no campaign is worth more.

    For the attacker of the finer release can play any plan for the coarser one. They add candidates of their own making
    to each group, in random order, and pretend to try these, to be detected as often as a try would be, and to pay. Of
    each target the plan then meets the same chances as in the coarser release. What is pretended costs nothing, and
    fines are min(n, D) C_p with no larger D than the plan was told; so they are left with no less.

    Releases that leave somebody out are not compared: others may be in the coarser one, or in smaller groups. How many
    are re-identified is not monotone, and nothing is pruned by it.
    """

    publisher: Publisher
    attackers: Mapping[str, Expected]
    releases: Mapping[str, Releases]
    utility: Floats
    levels: Ints
    whole: NDArray[np.bool_]
    terms: Sequence[Terms]
    gap: float = 0.0
    solved: int = 0
    _answers: dict[tuple[str, Attacker], Answers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(one.attacker.in_doubt for one in self.attackers.values()):
            raise UnmaskError("detection_prior and false_alarms are not weighed over a lattice; leave both out")
        if any(one.actual is not None for one in self.attackers.values()):
            raise UnmaskError("what attackers believe is not weighed over a lattice; leave out believed_detection")

    def answers(self, kind: str, terms: Terms) -> Answers:
        """What is known of a kind's campaigns at some terms."""
        faced = self._faced(kind, terms)
        if (kind, faced) not in self._answers:
            self._answers[kind, faced] = Answers.of(faced, self.releases[kind], self._asked)
        return self._answers[kind, faced]

    def payoffs(self, terms: Terms, of: slice = ALL) -> Floats:
        """(2, n) what is left to the publisher of each release at least and at most."""
        base = self.publisher.benefit * self.utility[of] - self.publisher.audit_cost * terms.audit
        brought = (self._brought(kind, terms, of) for kind in self.attackers)
        return np.asarray(sum(brought, np.stack([base, base])))

    def _brought(self, kind: str, terms: Terms, of: slice = ALL) -> Floats:
        """(2, n) what attackers of a kind bring, mostly losses; as `PublisherGame` has it, release by release."""
        found, expected, publisher = self.answers(kind, terms), self.attackers[kind], self.publisher
        fee, fined = terms.price if publisher.fees else 0.0, publisher.recovered * terms.fine
        attacks, may = found.worth[:, of] - expected.attacker.access_cost - terms.price > TIE * expected.attacker.gain
        least, most = publisher.loss * found.named[:, of] + publisher.penalty * found.reached[:, of]
        low = fee + np.where(attacks, fined * found.fines[0, of], 0.0) - most
        high = fee + fined * found.fines[1, of] - np.where(attacks, least, 0.0)
        return np.asarray(expected.number * np.where(may, [np.where(attacks, low, np.minimum(low, 0.0)), high], 0.0))

    def best(self, most: int = 10**9) -> tuple[int, Terms] | None:
        """The move that is surely worth most; None where none is sure to be worth more than to release nothing.

        most : how many moves are solved before the search ends, whatever `short` is then
        """
        while self.solved < most and (found := self._contender()) is not None:
            if not self._narrows(*found):
                self._solve(*found)
        terms, place, worth = self._known()
        return (place, terms) if worth > 0 else None

    def undecided(self) -> int:
        """Moves besides the best that may be better by more than the gap: their campaigns are only bounded."""
        return sum(int(one.sum()) for one in self._others(self._enough()).values())

    def short(self) -> float:
        """How much more than the best another move may be worth, 0 where none may."""
        worth = self._known()[2]
        high = (self.payoffs(terms)[1][may] for terms, may in self._others(worth).items())
        return max(max((float(one.max()) for one in high if one.size), default=0.0) - worth, 0.0)

    def _others(self, worth: float) -> dict[Terms, NDArray[np.bool_]]:
        """Which moves besides the best may be worth more than this."""
        best, place, known = self._known()
        more = {terms: self.payoffs(terms)[1] > worth for terms in self.terms}
        more[best][place] &= known <= 0
        return more

    def _known(self) -> tuple[Terms, int, float]:
        """The move that is worth most at least, and its worth; 0 where that is below what nothing is worth."""
        terms = max(self.terms, key=lambda one: float(self.payoffs(one)[0].max()))
        low = self.payoffs(terms)[0]
        return terms, int(low.argmax()), max(float(low.max()), 0.0)

    def _contender(self) -> tuple[int, Terms] | None:
        """What to solve next: of the open moves that may be the best, the middle one of those coarser than the first.

        If nobody attacks it, it is worth more than all that are coarser; else the finer ones are attacked, too.
        """
        enough = worth = self._enough()
        found = None
        for terms in self.terms:
            high = np.where(self._open(terms), self.payoffs(terms)[1], -np.inf)
            place = int(high.argmax())
            if high[place] > worth:
                worth, found = float(high[place]), (place, terms, high)
        if found is None:
            return None
        place, terms, high = found
        some = np.flatnonzero(self._coarser(place) & (high > enough))
        return (int(some[np.argsort(high[some])[len(some) // 2]]) if len(some) else place), terms

    def _enough(self) -> float:
        """No move that is worth less is looked for."""
        return self._known()[2] * (1 + SAME) + self.gap * self.publisher.benefit

    def _open(self, terms: Terms) -> NDArray[np.bool_]:
        """(n,) of which releases some campaign is to be solved."""
        return np.asarray(np.logical_or.reduce([self._matters(kind, terms) for kind in self.attackers]))

    def _matters(self, kind: str, terms: Terms) -> NDArray[np.bool_]:
        """(n,) where a kind's campaign is not solved, and leaves open more than its part of the gap."""
        low, high = self._brought(kind, terms)
        part = self.gap * self.publisher.benefit / len(self.attackers)
        return np.asarray(~self.answers(kind, terms).exact & (high - low > part))

    def _narrows(self, place: int, terms: Terms) -> bool:
        """Bound the campaigns of a kind closely, of those that leave something open here; False where all are."""
        some = [kind for kind in self.attackers if not self.answers(kind, terms).close]
        some = [kind for kind in some if self._matters(kind, terms)[place]]
        if some:
            kind = max(some, key=lambda kind: float(np.ptp(self._brought(kind, terms)[:, place])))
            close = Answers.of(self._faced(kind, terms), self.releases[kind], self._asked, close=True)
            self.answers(kind, terms).narrowed(close)
        return bool(some)

    def _solve(self, place: int, terms: Terms) -> None:
        """Solve campaigns against a release until it is ruled out, and bound those against coarser and finer ones."""
        self.solved += 1
        enough, one = self._enough(), slice(place, place + 1)
        for kind in sorted(self.attackers, key=lambda kind: -float(np.ptp(self._brought(kind, terms, one)))):
            if float(self.payoffs(terms, one)[1, 0]) <= enough:
                break
            found, gain = self.answers(kind, terms), self.attackers[kind].attacker.gain
            if found.exact[place]:
                continue
            faced, (who, people) = self._faced(kind, terms), self.releases[kind].one(place)
            raid = Raid.of(faced, who, people=people, at_least=self._asked)
            try:
                found.know(place, raid.worth, gain)
                self._compare(kind, place, terms)
                if raid.worth.low == raid.worth.high or float(self.payoffs(terms, one)[1, 0]) > enough:
                    found.solved(place, raid)
            except UnmaskError:  # more steps than a campaign may take: what is known of it stays
                found.exact[place] = True

    def _compare(self, kind: str, place: int, terms: Terms) -> None:
        """No coarser release is worth more to a kind, and no finer one less, where that is proved."""
        if not (self.whole[place] and self._falls(kind)):
            return
        found, gain = self.answers(kind, terms), self.attackers[kind].attacker.gain
        low, high = found.worth[:, place]
        finer = (self.levels <= self.levels[place]).all(axis=1)
        found.at_most(self.whole & self._coarser(place), high)
        found.at_least(self.whole & finer & ~found.exact, low, gain)

    def _coarser(self, place: int) -> NDArray[np.bool_]:
        return np.asarray((self.levels >= self.levels[place]).all(axis=1))

    def _falls(self, kind: str) -> bool:
        """Whether a kind's campaign is worth less where all groups are larger; see above."""
        games = self.releases[kind].games
        q = self.attackers[kind].attacker.detection_at(int(games.size.max(initial=1)))
        return bool((np.diff(games.inside) == 0).all() and (np.diff(q) >= 0).all())

    def _faced(self, kind: str, terms: Terms) -> Attacker:
        attacker = self.attackers[kind].attacker
        fine, rate = attacker.fine + terms.fine, attacker.audit_rate * terms.audit
        return replace(attacker, access_cost=0.0, fine=fine, audit_rate=rate)

    @property
    def _asked(self) -> int | None:
        return self.publisher.threshold if self.publisher.penalty else None
