"""What a report shows of the people and the columns of tables, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from unmask.facts import Count
from unmask.reports.few import in_steps, rounded_up


@dataclass(frozen=True)
class Distribution:
    """How success is spread over people: `shares[i]` of them lie between `edges[i]` and `edges[i + 1]`.

    edges  : (B + 1,) success probabilities in increasing order, between 0 and 1
    shares : (B,) shares of people, summing to 1
    people : how many there are
    above  : success probability -> how many people exceed it
    """

    release: str
    adversary: str
    target: str
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    people: int
    above: Mapping[float, Count] = field(default_factory=dict)

    def without_small(self, least: int) -> Distribution:
        """People above a limit in multiples of `least`, too: one count less another is a bin."""
        above = {limit: in_steps(n, least) for limit, n in self.above.items()}
        shares = tuple(rounded_up(share, self.people, least) for share in self.shares)
        return replace(self, shares=shares, above=above)


@dataclass(frozen=True)
class Promise:
    """What an adversary announced of some people whose truth is known, and what came true of it.

    people              : those of one release, adversary and target whom the announced success puts in one bin
    announced, realized : its mean over them, and the share of them about whom the adversary is right
    low, high           : 95 % interval of the latter (Wilson), as if people were independent
    """

    release: str
    adversary: str
    target: str
    people: int
    announced: float
    realized: float
    low: float
    high: float


@dataclass(frozen=True)
class Change:
    """A change of how a release is made, tried: protected again, and audited again.

    missed, untested : conditions of the policy
    above, people    : people whom the strongest adversary re-identifies with more than the limit, and of how many
    utility          : 1 - global certainty penalty; a column that is left out counts as lost
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
        return self if self.above is None else replace(self, above=in_steps(self.above, least))


@dataclass(frozen=True)
class ColumnRisk:
    """What one quasi-identifier contributes: the adversary's success with all they know, and without it."""

    release: str
    target: str
    column: str
    success_with: float
    success_without: float


@dataclass(frozen=True)
class ValueRisk:
    """What an adversary who knows the quasi-identifiers comes to believe of one value of a sensitive column.

    value          : its place among the commonest before the release, such as "no. 2": never the value itself
    prior, highest : its probability before the release, and the highest that anybody is given
    people, n      : how many are given it with more than one half, and of how many
    """

    release: str
    target: str
    value: str
    prior: float
    highest: float
    people: Count
    n: int


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
        yield replace(one, value=others if rare else one.value, people=in_steps(one.people, least))
