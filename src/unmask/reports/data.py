"""What a report shows, as values: frozen, checked, and the rows that its findings speak about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unmask.errors import UnmaskError
from unmask.reports.facts.channel import ChannelRisk
from unmask.reports.facts.exposure import Exposure
from unmask.reports.facts.graph import GraphRisk
from unmask.reports.facts.linkage import Linkage
from unmask.reports.facts.price import Price
from unmask.reports.facts.study import Measured
from unmask.reports.facts.study import headlines as preferred
from unmask.reports.result import Result
from unmask.reports.words import FAILURES, IDENTITY, Value, letter
from unmask.results import Row

ORIGINAL = "original"
"""The release of this name is the table before protection: shown beside the others, never counted among them."""

LIMITS = {"identity": 0.09, "value": 0.5}
"""Success probabilities above which a person is at risk: that of EMA's policy 0070, and more likely than not."""

FEWEST = 10
"""The fewest people that stand for a cell of a page, unless another number is asked for."""


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
    above: Mapping[float, int | str] = field(default_factory=dict)


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
    people: int | str
    n: int


@dataclass(frozen=True, repr=False)
class ReportData(Result):
    """All that a report shows, as values; `Result` has what programs do with them.

    title, who   : heading; one sentence that says who attacks what, knowing what
    rows         : the measures, of one or several releases (told apart by `Row.release`)
    criteria     : release -> criterion -> value; None is one that was not run
    utility      : release -> loss -> value, lower is better; the first one all releases have is drawn against risk
    column_risk  : what each quasi-identifier contributes
    values       : what is believed of each value of the sensitive columns, those that rise most first
    distribution : people by success probability
    assumptions  : one sentence each
    not_run      : what was left out or failed, and why; a reason that begins with "failed" is shown as a failure
    reproduce    : version, settings ...: no path, seed or digest, which would tell of the original
    adversaries  : adversary -> words that complete "an adversary who ..."; by default the name in `Row.adversary`
    success      : the measures that findings and charts speak about, the preferred one first
    price        : the economics of the attack, where an attacker was given
    linkage      : what adversaries who cluster pseudonyms do, where they were audited
    channel      : what the best adversary can still estimate through a channel or mechanisms
    graph        : what structural attacks name in a released network, where it was audited
    exposure     : what the columns and the order of rows of tables give away
    least        : the fewest people that may stand for a cell of a page, see `unmask.reports.small`
    """

    title: str
    who: str
    rows: tuple[Row, ...]
    criteria: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    utility: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    column_risk: tuple[ColumnRisk, ...] = ()
    values: tuple[ValueRisk, ...] = ()
    distribution: tuple[Distribution, ...] = ()
    assumptions: tuple[str, ...] = ()
    not_run: tuple[tuple[str, str], ...] = ()
    reproduce: Mapping[str, object] = field(default_factory=dict)
    adversaries: Mapping[str, str] = field(default_factory=dict)
    success: tuple[str, ...] = ("realized_success", "success_probability")
    price: Price | None = None
    linkage: Linkage | None = None
    channel: ChannelRisk | None = None
    graph: GraphRisk | None = None
    exposure: Exposure | None = None
    least: int = FEWEST

    def __post_init__(self) -> None:
        """Refuse a report about nothing, and distributions that cannot be drawn."""
        if not self.rows:
            raise UnmaskError("the report has 0 rows, expected at least 1; run an audit first")
        edges: dict[tuple[str, str], tuple[float, ...]] = {}
        for spread in self.distribution:
            where = f"the distribution of {spread.target!r} under {spread.release!r}"
            if len(spread.edges) != len(spread.shares) + 1 or not spread.shares:
                given = f"{len(spread.edges)} edges for {len(spread.shares)} shares"
                raise UnmaskError(f"{where} has {given}, expected one edge more than shares and at least one share")
            if edges.setdefault((spread.adversary, spread.target), spread.edges) != spread.edges:
                raise UnmaskError(f"{where} has other edges than the release before it; use the same edges for all")


Heads = Mapping[tuple[str, str, str], Row]


def headlines(data: ReportData) -> dict[tuple[str, str, str], Row]:
    """(release, adversary, target) -> the row of success that findings and charts speak about, in the order of rows.

    It is the first of `data.success` that has a value: realized success where the truth is known, else self-assessed.
    """
    told = tuple(Measured("", row, 1) for row in data.rows if row.status not in FAILURES)
    return {key: item.row for key, item in preferred(told, data.success).items()}


@dataclass(frozen=True)
class Scope:
    """What there is to tell apart, each in the order of its first row, identity before other targets."""

    releases: tuple[str, ...]
    adversaries: tuple[str, ...]
    targets: tuple[str, ...]
    words: Mapping[str, str]

    @classmethod
    def of(cls, data: ReportData) -> Scope:
        """Read off the rows what there is to tell apart."""
        targets = dict.fromkeys(row.target for row in data.rows)
        adversaries = tuple(dict.fromkeys(row.adversary for row in data.rows))
        return cls(
            releases=tuple(dict.fromkeys(row.release for row in data.rows)),
            adversaries=adversaries,
            targets=tuple(sorted(targets, key=lambda target: target != IDENTITY)),
            words={name: data.adversaries.get(name, name) for name in adversaries},
        )

    @property
    def styles(self) -> dict[str, int]:
        """Adversary -> number of its color, shape and letter."""
        return {name: style for style, name in enumerate(self.adversaries)}

    def looks(self, names: Iterable[str]) -> dict[str, int]:
        """Name -> number of its look: the one it has on the page, then free ones, for adversaries without rows, too."""
        styles = dict(self.styles)
        for name in names:
            styles.setdefault(name, len(styles))
        return styles

    @property
    def protected(self) -> tuple[str, ...]:
        """The releases without the original, unless it is all there is."""
        return tuple(name for name in self.releases if name != ORIGINAL) or self.releases

    def subject(self, adversary: str) -> str:
        """Turn "knows age" into "an adversary who knows age"; any other name is kept as a name."""
        words = self.words[adversary]
        completes = adversary != words or words.startswith("knows ")
        return f"an adversary who {words}" if completes else f"the adversary {words}"

    def who(self, release: str, adversary: str) -> tuple[str, ...]:
        """The cells that say whose row it is: columns that would say the same everywhere are left out."""
        letters = (letter(self.styles[adversary]),) if len(self.adversaries) > 1 else ()
        return (release, *letters) if len(self.releases) > 1 or not letters else letters

    @property
    def who_head(self) -> tuple[str, ...]:
        """The heads of the columns of `who`."""
        head = ("Release",) if len(self.releases) > 1 or len(self.adversaries) == 1 else ()
        return head + (("Adversary",) if len(self.adversaries) > 1 else ())
