"""What a report shows of the people and the columns of tables, as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from unmask.core.posterior import equal_weights
from unmask.facts import Count
from unmask.measures.interval import of_targets
from unmask.results.suppression import round_people, round_share


@dataclass(frozen=True)
class Distribution:
    """How success is spread over people: `shares[i]` of them lie between `edges[i]` and `edges[i + 1]`.

    edges  : (B + 1,) success probabilities in increasing order, between 0 and 1
    shares : (B,) shares of people, summing to 1
    people : how many there are; drawn_from : of how many they were drawn at random, 0 where they are all
    above  : success probability -> how many people exceed it
    each   : (success probability, share of people with it) by rising probability; nothing that is given out has it
    """

    release: str
    adversary: str
    target: str
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    people: int
    above: Mapping[float, Count] = field(default_factory=dict)
    each: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    drawn_from: int = 0

    def in_all(self, above: int, least: int = 1) -> tuple[int, int, int]:
        """Of all people from whom these were drawn, how many are like so many of these, and the ends of the 95 %
        interval, in steps of `least`.

        >>> Distribution("r", "neighbor", "identity", (0.0, 1.0), (1.0,), 100, drawn_from=300).in_all(50)
        (150, 126, 174)
        """
        found = (np.arange(self.people) < above).astype(np.float64)
        low, high, _ = of_targets(found, equal_weights(self.people), drawn_from=self.drawn_from, rate=True)
        each = (self.drawn_from * share for share in (found.mean(), low or 0.0, high or 1.0))
        value, first, last = (least * round(n / least) for n in each)
        return value, max(first, above), last

    def at(self, limits: Iterable[float]) -> Distribution:
        """The same with the people who exceed further limits, where each of them is known.

        >>> spread = Distribution("r", "neighbor", "identity", (0.0, 1.0), (1.0,), 10, each=((0.1, 0.7), (0.5, 0.3)))
        >>> spread.at([0.2, 0.5]).above
        {0.2: 3, 0.5: 0}
        """
        if not self.each:
            return self
        counted = {limit: round(self.people * sum(n for p, n in self.each if p > limit)) for limit in limits}
        return replace(self, above={**self.above, **counted})

    def without_small(self, least: int) -> Distribution:
        """People above a limit in multiples of `least`, too: one count less another is a bin."""
        above = {limit: round_people(n, least, self.people) for limit, n in self.above.items()}
        shares = tuple(round_share(share, self.people, least) for share in self.shares)
        return replace(self, shares=shares, above=above, each=())


@dataclass(frozen=True)
class Change:
    """A change of how a release is made, tried: protected again, and audited again.

    missed, untested : conditions of the policy
    above, people    : people whom the strongest adversary re-identifies with more than the limit, and of how many
    utility          : 1 - global certainty penalty; a quasi-identifier that is left out counts as lost
    k, l, without    : what `protect` is told: least rows and values of a class, and the column left out
    """

    name: str
    missed: int
    untested: int
    above: Count | None
    people: int
    utility: float | None
    k: int | None = None
    l: int | None = None  # noqa: E741  # the field's letter
    without: str = ""

    def without_small(self, least: int) -> Change:
        """The same without a count of few people."""
        return self if self.above is None else replace(self, above=round_people(self.above, least, self.people))


@dataclass(frozen=True)
class ColumnRisk:
    """What one quasi-identifier contributes: the adversary's success with all they know, and without it."""

    release: str
    target: str
    column: str
    success_with: float
    success_without: float


CLASSES = 5
"""Classes of a release that are shown for each target."""


@dataclass(frozen=True)
class ClassRisk:
    """People whom the same records fit, and the most that an adversary who knows the quasi-identifiers believes of one.

    row         : of the release, counted from 0, the first record that fits them: they stand there, and in the origin
    target      : "identity", or a sensitive column
    people      : of those attacked
    probability : of being re-identified, or of having a secret: a value that is not the commonest
    value       : that secret, as in `ValueRisk`; "" for identity
    """

    release: str
    target: str
    row: int
    people: int
    probability: float
    value: str = ""


def worst_classes(classes: Sequence[ClassRisk]) -> Iterator[ClassRisk]:
    """Of each release and target the first `CLASSES`."""
    told: Counter[tuple[str, str]] = Counter()
    for one in classes:
        told[one.release, one.target] += 1
        if told[one.release, one.target] <= CLASSES:
            yield one


@dataclass(frozen=True)
class Step:
    """What one step of generalization of one column of a release buys: made of the release, and attacked like it.

    ladder       : the type of the column, or "hierarchy"
    level        : of the column, as `tables.Generalize` takes it; "*" leaves nothing
    target       : "identity", or a sensitive column
    success      : what the adversary who knows the quasi-identifiers expects, before and after
    above        : people above the limit, before and after; of a sensitive column those found to have a secret
    people       : of how many
    utility      : 1 - global certainty penalty, before and after
    """

    release: str
    column: str
    ladder: str
    level: float | str
    target: str
    success_before: float
    success: float
    above_before: Count
    above: Count
    people: int
    utility_before: float
    utility: float

    def without_small(self, least: int) -> Step:
        """The same without counts of few people."""
        before, above = (round_people(count, least, self.people) for count in (self.above_before, self.above))
        return replace(self, above_before=before, above=above)


@dataclass(frozen=True)
class ValueRisk:
    """What an adversary who knows the quasi-identifiers comes to believe of one value of a sensitive column.

    value          : its place among the commonest before the release, such as "no. 2": never the value itself
    prior, highest : its probability before the release, and the highest that anybody is given
    people, n      : how many are found to have it, given it with more than one half, and of how many
    secret         : whether it is a secret: the commonest value is none
    believed       : of those found, the share who have it, as the adversary believes; None where nobody is found
    right          : the share who do have it; None where the truth is not known
    """

    release: str
    target: str
    value: str
    prior: float
    highest: float
    people: Count
    n: int
    secret: bool = True
    believed: float | None = None
    right: float | None = None

    def without_small(self, least: int) -> ValueRisk:
        """The same without what tells of few people: shares of those found in whole percent, of enough alone."""
        people = round_people(self.people, least, self.n)
        enough = not isinstance(people, str)

        def told(share: float | None) -> float | None:
            return round(share, 2) if enough and share is not None and least > 1 else share if enough else None

        return replace(self, people=people, believed=told(self.believed), right=told(self.right))


def common_values(values: Sequence[ValueRisk], least: int) -> Iterator[ValueRisk]:
    """Without the names of values that few people have: of each column the one that rises most stands for them."""
    others = f"a value that fewer than {least:,} people have"
    told: set[tuple[str, str]] = set()
    for one in values:
        rare = one.value != others and one.prior * one.n < least - 0.5
        if rare and (one.release, one.target) in told:
            continue
        if rare:
            told.add((one.release, one.target))
        yield replace(one, value=others if rare else one.value).without_small(least)
