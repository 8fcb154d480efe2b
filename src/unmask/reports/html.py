"""Rows in, one self-contained page out: who attacks what, what was found, where the risk sits, how to do it again.

`ReportData` holds what is shown, `render` shows it. Nothing is computed about people here, and no record is shown:
classes go by their number. A section without data is left out; what was not run or failed says so in words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.reports import plots
from unmask.reports.plots import Distribution, number, percent
from unmask.results import Row

ORIGINAL = "original"
"""The release of this name is the table before protection: shown beside the others, never counted among them."""

IDENTITY = "identity"

Value = float | int | str | None

MEASURES = {
    "success": ("Success", "chance that the adversary's best guess is right"),
    "error": ("Error", "expected loss of the adversary's best estimate"),
    "shannon_entropy_bits": ("Uncertainty", "Shannon entropy: bits the adversary still lacks on average"),
    "min_entropy_bits": ("Min-entropy", "minus log2 of the best guess's chance"),
    "effective_set_size": ("Effective anonymity set", "how many equally likely candidates the uncertainty amounts to"),
    "information_gain_bits": ("Information gained", "bits the release adds to what was known before"),
    "total_variation": (
        "Shift of belief",
        "largest change of the probability of any event (t-closeness, equal distance)",
    ),
    "delta_up": ("Strongest confirmation", "log ratio by which the likeliest rise of a candidate grew, in nats"),
    "delta_down": ("Strongest refutation", "log ratio by which a candidate became less likely, in nats"),
    "rank": ("Guesses needed", "place of the truth among the candidates, from most to least likely"),
    "log_loss_bits": ("Log loss", "minus log2 of the probability given to the truth"),
    "calibration_error": ("Calibration error", "how far announced success is from success that came true"),
}
"""Stem of a measure -> name and meaning for readers; others show the name they were filed under."""

CRITERIA = {
    "rows": ("Rows", "people in the release"),
    "classes": ("Classes", "groups of rows alike in all quasi-identifiers"),
    "missing": ("Missing cells", "how a missing cell is compared"),
    "rows_missing": ("Rows with a missing cell", "in any quasi-identifier"),
    "rows_excluded": ("Rows left out", "because of a missing cell"),
    "k": ("k", "rows that fit the person who hides among the fewest"),
    "unique_rows": ("Unique rows", "rows that nobody else is like"),
    "prosecutor_average": ("Prosecutor risk, average", "chance of naming a row, for one known to be in the release"),
    "prosecutor_max": ("Prosecutor risk, largest", "the same for the worst-off row, 1 / k"),
    "journalist_average": ("Journalist risk, average", "chance of naming a row, for one known to be in the population"),
    "journalist_max": ("Journalist risk, largest", "the same for the worst-off row"),
    "marketer": ("Marketer risk", "share of rows named by linking all of them to the population"),
    "sample_weight_average": ("Sample risk, average", "chance of naming a row, by survey weights"),
    "sample_weight_max": ("Sample risk, largest", "the same for the worst-off row"),
    "l_distinct": ("l, distinct", "fewest different sensitive values in a class"),
    "l_entropy": ("l, entropy", "equally likely values that the least diverse class amounts to"),
    "l_recursive": ("c, recursive", "rows with the commonest value for each row with a rarer one, worst class"),
    "p_sensitive": ("p-sensitive", "fewest different values in a class"),
    "alpha": ("\u03b1", "largest share of one sensitive value in a class"),
    "t_equal": ("t, equal distance", "farthest class from the whole table; 0 alike, 1 nothing in common"),
    "t_ordered": ("t, ordered", "the same, where distant values count more"),
    "t_hierarchical": ("t, hierarchical", "the same, over the value hierarchy"),
    "t_kl": ("t, Kullback-Leibler", "the same as a relative entropy, in nats"),
    "delta_disclosure": (
        "\u03b4-disclosure",
        "largest log change of a value's frequency; unbounded if a class lacks a value",
    ),
    "delta_up": ("\u03b4, upward", "largest log rise of a value's frequency in a class, in nats"),
    "beta_likeness": ("\u03b2-likeness", "largest relative rise of a value's frequency, against its own bound"),
    "beta_basic": ("\u03b2, basic", "largest relative rise of a value's frequency"),
    "map_error": ("Error by class", "how often the commonest value of the class is wrong"),
    "average_privacy_risk": ("Average privacy risk", "how often the commonest value of the class is right"),
    "prior_error": ("Error without the release", "how often the commonest value of the table is wrong"),
    "information_bits": ("Information", "bits that the class tells about the value, on average"),
}
"""Criterion -> name and meaning; a suffix in brackets, as in "t_equal (occupation)", is kept."""

UTILITIES = {
    "gcp": ("Information lost (GCP)", "global certainty penalty: 0 % nothing generalised, 100 % everything"),
    "suppressed": ("Rows suppressed", "share of rows left out"),
    "discernibility": ("Discernibility", "sum of squared class sizes"),
    "average_class_size": ("Average class size", "rows divided by classes"),
}
"""Measure of lost utility -> name and meaning. All are losses: the higher, the less is left."""

PERCENT = frozenset(
    {"alpha", "map_error", "average_privacy_risk", "prior_error", "marketer", "gcp", "suppressed"}
    | {f"{kind}_{which}" for kind in ("prosecutor", "journalist", "sample_weight") for which in ("average", "max")}
)
"""Criteria and losses that are written in percent."""

FAILURES = ("failed", "skipped", "timed out", "not run")
"""A row of such a status has no value; the page says the word instead."""


@dataclass(frozen=True)
class ClassRisk:
    """One class of a release by its number: its rows, and how often they are named or their values inferred.

    attribute : sensitive column -> success probability inside the class
    """

    number: int
    rows: int
    identity: float
    attribute: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ColumnRisk:
    """What one quasi-identifier contributes: the adversary's success with all he knows, and without it."""

    release: str
    target: str
    column: str
    success_with: float
    success_without: float


@dataclass(frozen=True)
class ReportData:
    """All that a report shows, as values.

    title, who   : heading; one sentence that says who attacks what, knowing what
    rows         : the measures, of one or several releases (told apart by `Row.release`)
    criteria     : release -> criterion -> value; None is one that was not run
    utility      : release -> loss -> value, lower is better; the first one all releases have is drawn against risk
    class_risk   : release -> the classes that put people most at risk; the first ten are shown
    column_risk  : what each quasi-identifier contributes
    distribution : people by success probability
    assumptions  : one sentence each
    not_run      : what was left out or failed, and why; a reason that begins with "failed" is shown as a failure
    reproduce    : command, seed, version, digests, missing-cell rule ...
    adversaries  : adversary -> words that complete "an adversary who ..."; by default the name in `Row.adversary`
    success      : the measures that findings and charts speak about, the preferred one first
    """

    title: str
    who: str
    rows: tuple[Row, ...]
    criteria: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    utility: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    class_risk: Mapping[str, tuple[ClassRisk, ...]] = field(default_factory=dict)
    column_risk: tuple[ColumnRisk, ...] = ()
    distribution: tuple[Distribution, ...] = ()
    assumptions: tuple[str, ...] = ()
    not_run: tuple[tuple[str, str], ...] = ()
    reproduce: Mapping[str, object] = field(default_factory=dict)
    adversaries: Mapping[str, str] = field(default_factory=dict)
    success: tuple[str, ...] = ("realised_success", "success_probability")

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


@dataclass(frozen=True)
class _Grid:
    """A table as text: heads, then groups of rows under an optional line of their own; figures from column `text`."""

    head: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    text: int = 1
    caption: str = ""
    meaning: bool = False

    @property
    def rows(self) -> int:
        return sum(len(rows) for _, rows in self.groups)


@dataclass(frozen=True)
class _Figure:
    """A drawing with the line above it."""

    caption: str
    svg: str


@dataclass(frozen=True)
class _Scope:
    """What there is to tell apart, each in the order of its first row, identity before other targets."""

    releases: tuple[str, ...]
    adversaries: tuple[str, ...]
    targets: tuple[str, ...]
    words: Mapping[str, str]

    @classmethod
    def of(cls, data: ReportData) -> _Scope:
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
        return {name: style for style, name in enumerate(self.adversaries)}

    @property
    def protected(self) -> tuple[str, ...]:
        return tuple(name for name in self.releases if name != ORIGINAL) or self.releases

    def subject(self, adversary: str) -> str:
        """Turn "knows age" into "an adversary who knows age"; any other name is kept as a name."""
        words = self.words[adversary]
        completes = adversary != words or words.startswith("knows ")
        return f"an adversary who {words}" if completes else f"the adversary {words}"

    def who(self, release: str, adversary: str) -> tuple[str, ...]:
        """The cells that say whose row it is: columns that would say the same everywhere are left out."""
        letters = (plots.letter(self.styles[adversary]),) if len(self.adversaries) > 1 else ()
        return (release, *letters) if len(self.releases) > 1 or not letters else letters

    @property
    def who_head(self) -> tuple[str, ...]:
        head = ("Release",) if len(self.releases) > 1 or len(self.adversaries) == 1 else ()
        return head + (("Adversary",) if len(self.adversaries) > 1 else ())


Heads = Mapping[tuple[str, str, str], Row]


def headlines(data: ReportData) -> dict[tuple[str, str, str], Row]:
    """(release, adversary, target) -> the row of success that findings and charts speak about, in the order of rows.

    It is the first of `data.success` that has a value: realised success where the truth is known, else self-assessed.
    """
    found: dict[tuple[str, str, str], Row] = {}
    for row in data.rows:
        if row.measure in data.success and row.status not in FAILURES:
            key = (row.release, row.adversary, row.target)
            if key not in found or data.success.index(row.measure) < data.success.index(found[key].measure):
                found[key] = row
    return found


def sentences(data: ReportData) -> list[str]:
    """The findings of the report, a sentence each, for those who read no page."""
    return _findings(_Scope.of(data), headlines(data))


def render(data: ReportData) -> str:
    """The report as one HTML page: styles and charts inline, no script, nothing fetched. Same data in, same text out.

    A section without data is left out. Names are escaped, so that any name is safe.

    >>> row = Row(
    ...     "k=3",
    ...     "knows age",
    ...     "identity",
    ...     "success_probability",
    ...     "probability",
    ...     "high",
    ...     0.0025,
    ...     0.04,
    ...     0.0375,
    ...     None,
    ...     None,
    ...     "none",
    ...     2000,
    ...     80,
    ...     0.5,
    ...     7,
    ...     (0.0, 0.01, 0.02, 0.05, 0.1),
    ...     "exact",
    ... )
    >>> page = render(ReportData(title="Example", who="One adversary attacks one release.", rows=(row,)))
    >>> "An adversary who knows age expects to name 4.0\u00a0% of 2,000 people correctly" in page
    True
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["safe_svg"] = Markup
    scope, heads = _Scope.of(data), headlines(data)
    several = len(scope.adversaries) > 1
    measures = _measure_tables(data, scope)
    return environment.get_template("report.html.j2").render(
        data=data,
        key=[(plots.letter(i), plots.swatch(i), scope.words[name]) for name, i in scope.styles.items()]
        if several
        else [],
        findings=_findings(scope, heads),
        contrast=_contrasts(scope, heads),
        success=_success_figures(data, scope, heads),
        success_table=_success_table(data, scope, heads),
        success_note=_success_note(heads),
        measures=measures,
        measure_notes=_measure_notes(data, scope, measures),
        distribution=_distribution_figures(data, scope),
        quantiles=_quantile_tables(data, scope),
        columns=_column_tables(data),
        classes=_class_tables(data),
        plane=_plane_figures(data, scope, heads),
        utility=_listing(data.utility, UTILITIES, "Utility lost"),
        criteria=_listing(data.criteria, CRITERIA, "Criterion"),
        criteria_not_run=_nowhere(data.criteria, CRITERIA),
        not_run=[
            (what, why, "failed" if why.lower().startswith("failed") else "not run") for what, why in data.not_run
        ],
    )


# Findings: a value, its interval, the baseline and n, in a sentence each.


def _findings(scope: _Scope, heads: Heads) -> list[str]:
    """For each target the riskiest release of the two strongest adversaries, and how far the other releases go."""
    sentences = []
    for target in scope.targets:
        best: list[list[Row]] = []
        for adversary in scope.adversaries:
            rows = [heads[key] for r in scope.protected if (key := (r, adversary, target)) in heads]
            if rows:
                best.append(sorted(rows, key=lambda row: -row.posterior))
        best.sort(key=lambda rows: -rows[0].posterior)
        for rows in best[:2]:
            original = heads.get((ORIGINAL, rows[0].adversary, target))
            sentences.append(_finding(scope, rows, original if original not in rows else None))
    return sentences


def _finding(scope: _Scope, rows: Sequence[Row], original: Row | None) -> str:
    row, subject = rows[0], scope.subject(rows[0].adversary)
    where = f"From {_named(row.release)}, {subject}" if len(scope.releases) > 1 else subject[0].upper() + subject[1:]
    realised = row.measure.startswith("realised")
    value, n = plots.row_estimate(row), f"{row.n:,} people"
    if row.target == IDENTITY:
        did = f"names {value} of {n} correctly" if realised else f"expects to name {value} of {n} correctly"
    else:
        verb = "infers" if realised else "expects to infer"
        did = f"{verb} {row.target} correctly for {value} of {n}"
    text = f"{where} {did}; guessing gives {percent(row.prior)}."
    if row.low is not None and row.high is not None and row.low <= row.prior <= row.high:
        text += " The interval includes guessing: no gain is shown."
    if len(rows) > 1:
        some = f"{len(rows)} of " if len(rows) < len(scope.protected) else ""
        lowest = f"the lowest is {_named(rows[-1].release)} with {plots.row_estimate(rows[-1])}"
        text += f" Of {some}{len(scope.protected)} releases {lowest}."
    return text + (f" The unprotected table gives {plots.row_estimate(original)}." if original else "")


def _named(release: str) -> str:
    """The name of a release inside a sentence: in quotes where it could be read as part of it."""
    return release if re.fullmatch(r"[\w=.+-]+", release) else f"\u201c{release}\u201d"


def _contrasts(scope: _Scope, heads: Heads) -> list[str]:
    """Where one release names people far less often than another, and yet infers their values nearly as often."""
    sentences = []
    for target in (name for name in scope.targets if name != IDENTITY):
        pairs = [
            (heads[one], heads[other])
            for release in scope.protected
            for adversary in scope.adversaries
            if (one := (release, adversary, IDENTITY)) in heads and (other := (release, adversary, target)) in heads
        ]
        pairs = [pair for pair in pairs if pair[0].posterior > 0 and pair[1].posterior > 0]
        if not pairs:
            continue
        worst = max(pairs, key=lambda pair: pair[0].posterior)
        least = min((p for p in pairs if p[0].adversary == worst[0].adversary), key=lambda pair: pair[0].posterior)
        named, inferred = (worst[i].posterior / least[i].posterior for i in (0, 1))
        if named >= 1.5 and _apart(worst[0], least[0]) and 1 <= inferred < 1 + (named - 1) / 4:
            first, second = (f"from {plots.row_value(worst[i])} to {plots.row_value(least[i])}" for i in (0, 1))
            sentences.append(
                f"From {_named(worst[0].release)} to {_named(least[0].release)} the people named fall {first}, "
                f"those whose {target} is inferred only {second}: what hides the name does not hide {target}."
            )
    return sentences


def _apart(high: Row, low: Row) -> bool:
    """The intervals of two rows, where they have one, do not touch."""
    return high.low is None or low.high is None or high.low > low.high


# Success side by side, and what follows from it.


def _what(target: str) -> str:
    return "Identity: people named" if target == IDENTITY else f"{target}: value inferred"


def _success_figures(data: ReportData, scope: _Scope, heads: Heads) -> list[_Figure]:
    figures = []
    for i, target in enumerate(scope.targets):
        rows = [
            heads.get((r, a, target), plots.Absent(r, a, _why_not(data, r, a, target)))
            for r in scope.releases
            for a in scope.adversaries
        ]
        if any(isinstance(row, Row) for row in rows):
            label = f"Success by release. {_what(target)}. The table below has the figures."
            svg = plots.success_chart(rows, styles=scope.styles, label=label, key=f"success{i}")
            figures.append(_Figure(_what(target), svg))
    return figures


def _success_note(heads: Heads) -> str:
    sizes = sorted({row.n for row in heads.values()})
    who = (
        f"n = {sizes[0]:,} people for every mark."
        if len(sizes) == 1
        else "n is written beside the marks or in the table."
    )
    bounds = any(row.low is not None for row in heads.values())
    lines = ", thin lines 95 % intervals" if bounds else "; no interval was computed"
    return f"Dots are success{lines}; the black tick is guessing without the release, the band is what it gives. {who}"


def _success_table(data: ReportData, scope: _Scope, heads: Heads) -> _Grid | None:
    """Release by target: success with its interval; guessing alone in the first lines."""
    targets = [target for target in scope.targets if any(key[2] == target for key in heads)]
    with_k = any("k" in data.criteria.get(release, {}) for release in scope.releases)
    guesses: list[tuple[str, ...]] = []
    rows: list[tuple[str, ...]] = []
    for adversary in scope.adversaries:
        known = ([heads[k].prior for r in scope.releases if (k := (r, adversary, t)) in heads] for t in targets)
        priors = (_range(values) for values in known)
        guesses.append((*scope.who("guessing alone", adversary), *(("",) if with_k else ()), *priors, ""))
    for release in scope.releases:
        for adversary in scope.adversaries:
            own = [heads.get((release, adversary, target)) for target in targets]
            size = (_value("k", data.criteria.get(release, {}).get("k")),) if with_k else ()
            cells = tuple(
                plots.row_estimate(row) if row is not None else _why_not(data, release, adversary, target)
                for row, target in zip(own, targets, strict=True)
            )
            n = " / ".join(dict.fromkeys(f"{row.n:,}" for row in own if row is not None))
            rows.append((*scope.who(release, adversary), *size, *cells, n))
    if not targets:
        return None
    head = (*scope.who_head, *(("k",) if with_k else ()), *(_what(target) for target in targets), "n")
    shown = guesses if len(scope.releases) > 1 else []
    return _Grid(head, (("", tuple(shown)), ("", tuple(rows))), text=len(scope.who_head))


def _why_not(data: ReportData, release: str, adversary: str, target: str) -> str:
    """The word for success that has no value: the status of the row that failed, or "not run" where there is none."""
    asked = (row for row in data.rows if (row.release, row.adversary, row.target) == (release, adversary, target))
    return next((row.status for row in asked if row.measure in data.success and row.status in FAILURES), "not run")


def _range(values: Sequence[float]) -> str:
    low, high = (percent(bound(values)) for bound in (min, max)) if values else ("", "")
    return low if low == high else f"{low} \u2013 {high}"


# Adversary by measure.


def _stem(measure: str) -> str:
    """What the self-assessed and the realised measure of one thing share: "success", "error", or the name itself."""
    name = re.sub(r"^(realised|expected)_", "", measure)
    return {"success_probability": "success", "estimation_error": "error"}.get(name, name)


def _needs_truth(measure: str) -> bool:
    return measure.startswith("realised") or measure in ("rank", "log_loss_bits", "calibration_error")


def _measure_tables(data: ReportData, scope: _Scope) -> list[_Grid]:
    """For each target a table: measures as groups, releases and adversaries as rows, both kinds of value as columns."""
    found: dict[tuple[str, str, str, str], dict[bool, Row]] = {}
    for row in data.rows:
        found.setdefault((row.target, _stem(row.measure), row.release, row.adversary), {})[
            _needs_truth(row.measure)
        ] = row
    head = (*scope.who_head, "Prior", "Self-assessed", "Realised", "Gain", "Worst-off", "n")
    tables = []
    for target in scope.targets:
        groups = []
        for stem in dict.fromkeys(key[1] for key in found if key[0] == target):
            cells = tuple(
                (*scope.who(release, adversary), *_measure_cells(found.get((target, stem, release, adversary), {})))
                for release in scope.releases
                for adversary in scope.adversaries
            )
            row = next(iter(next(rows for key, rows in found.items() if key[:2] == (target, stem)).values()))
            groups.append((_measure_line(stem, row), cells))
        tables.append(_Grid(head, tuple(groups), text=len(scope.who_head), caption=_what(target).split(":")[0]))
    return tables


def _measure_line(stem: str, row: Row) -> str:
    name, meaning = MEASURES.get(stem, (stem.replace("_", " "), f"in {row.unit}"))
    unit = "" if row.unit in plots.SHARES or row.unit in meaning else f" ({row.unit})"
    return f"{name} \u2013 {meaning}{unit}; the adversary wants it {row.direction}"


def _measure_cells(rows: Mapping[bool, Row]) -> tuple[str, ...]:
    """Prior, self-assessed, realised, gain, worst-off and n of one measure; worst-off by the adversary's own belief."""
    if not rows:
        return ("not run", "", "", "", "", "")
    own, real = rows.get(False), rows.get(True)
    lead = next((row for row in (real, own) if row is not None and row.status not in FAILURES), None)
    if lead is None:
        return (next(iter(rows.values())).status, "", "", "", "", "")
    worst = own if own is not None and own.status not in FAILURES else lead
    return (
        plots.estimate(lead.prior, lead.unit),
        _cell(own),
        _cell(real) + (" \u2020" if _disagree(own, real) else ""),
        plots.gain(lead),
        f"{plots.estimate(worst.worst, worst.unit)} (no. {worst.worst_observation:,})",
        " / ".join(
            dict.fromkeys(f"{row.n:,}" for row in (own, real) if row is not None and row.status not in FAILURES)
        ),
    )


def _cell(row: Row | None) -> str:
    if row is None:
        return "\u2013"
    return row.status if row.status in FAILURES else plots.row_estimate(row)


def _disagree(own: Row | None, real: Row | None) -> bool:
    """What the adversary expects lies outside the interval of what came true."""
    if (
        own is None
        or real is None
        or real.low is None
        or real.high is None
        or {own.status, real.status} & set(FAILURES)
    ):
        return False
    return not real.low <= own.posterior <= real.high


def _measure_notes(data: ReportData, scope: _Scope, tables: Sequence[_Grid]) -> list[str]:
    """What a reader of the table must know: which intervals, which beliefs, what marks and words mean."""
    kinds = dict.fromkeys(row.interval for row in data.rows if row.low is not None)
    notes = [f"Brackets are 95 % intervals over {'; '.join(kinds)}." if kinds else "No interval was computed."]
    if kinds and any(row.low is None and row.status not in FAILURES for row in data.rows):
        notes.append("A value without brackets has no interval.")
    notes.append(
        "Worst-off is the person for whom the adversary does best; the number is that of the observation, not of a row."
    )
    cells = [cell for table in tables for _, rows in table.groups for row in rows for cell in row]
    if any("\u2020" in cell for cell in cells):
        notes.append(
            "\u2020 The adversary's own expectation lies outside the interval of what came true: its belief is off."
        )
    if any(" / " in row[-1] for table in tables for _, rows in table.groups for row in rows):
        notes.append("n: people behind the self-assessed / behind the realised value.")
    if any("unbounded" in cell for cell in cells):
        notes.append(
            "unbounded: the release rules something out, or confirms it, with certainty; no finite number bounds that."
        )
    beliefs = dict.fromkeys((row.adversary, row.status) for row in data.rows if row.status not in FAILURES)
    if any(status != "exact" for _, status in beliefs):
        said = (
            f"{plots.letter(scope.styles[name])} {status}" if len(scope.adversaries) > 1 else status
            for name, status in beliefs
        )
        notes.append(f"Kind of belief: {', '.join(said)}.")
    notes += dict.fromkeys(
        f"{row.release}, {row.measure}: {row.note}" for row in data.rows if row.note and row.status in FAILURES
    )
    return notes + list(dict.fromkeys(row.note for row in data.rows if row.note and row.status not in FAILURES))


# Over people, and where the risk sits.


def _distribution_figures(data: ReportData, scope: _Scope) -> list[_Figure]:
    figures: list[_Figure] = []
    tallest = max((share for item in data.distribution for share in item.shares), default=1.0) or 1.0
    for adversary in dict.fromkeys(item.adversary for item in data.distribution):
        style = scope.styles.get(adversary, len(scope.styles))
        for target in dict.fromkeys(item.target for item in data.distribution):
            spread = [item for item in data.distribution if (item.adversary, item.target) == (adversary, target)]
            if spread:
                caption = plots.lettered(_what(target), style, len(scope.adversaries))
                svg = plots.distribution_chart(
                    spread,
                    style=style,
                    tallest=tallest,
                    label=f"Share of people by success probability. {caption}.",
                    key=f"spread{len(figures)}",
                )
                figures.append(_Figure(caption, svg))
    return figures


def _quantile_tables(data: ReportData, scope: _Scope) -> list[_Grid]:
    """The worst-off: what success is at least, for half, a quarter, a twentieth of the people; of beliefs, not hits."""
    rows = [
        r for r in data.rows if r.measure in data.success and not _needs_truth(r.measure) and r.status not in FAILURES
    ]
    tables = []
    for target in scope.targets:
        cells = tuple(
            (
                *scope.who(row.release, row.adversary),
                *(percent(row.quantiles[i]) for i in (2, 3, 4)),
                percent(row.worst),
            )
            for release in scope.releases
            for adversary in scope.adversaries
            for row in rows
            if (row.release, row.adversary, row.target) == (release, adversary, target) and len(row.quantiles) == 5
        )
        if cells:
            head = (*scope.who_head, "Half of people", "Worst-off 25\u00a0%", "Worst-off 5\u00a0%", "Worst-off person")
            tables.append(_Grid(head, (("", cells),), text=len(scope.who_head), caption=_what(target)))
    return tables


def _column_tables(data: ReportData) -> list[_Grid]:
    """Columns by releases: success without the column, and how much less that is than with all of them."""
    tables = []
    for target in dict.fromkeys(item.target for item in data.column_risk):
        own = {(item.release, item.column): item for item in data.column_risk if item.target == target}
        releases = list(dict.fromkeys(release for release, _ in own))
        share: dict[str, float] = {}
        for (_, column), item in own.items():
            share[column] = max(share.get(column, float("-inf")), item.success_with - item.success_without)
        rows = [
            (column, *(_contribution(own.get((release, column))) for release in releases))
            for column in sorted(share, key=lambda name: -share[name])
        ]
        known = {item.release: item.success_with for item in own.values()}
        first = ("with all columns", *(percent(known[release]) for release in releases))
        groups = (("", (first,)), ("", tuple(rows)))
        tables.append(_Grid(("Without", *releases), groups, caption=_what(target)))
    return tables


def _contribution(item: ColumnRisk | None) -> str:
    if item is None:
        return "not run"
    change = 100 * (item.success_without - item.success_with)
    places = 1 if abs(change) >= 1 else 2
    return f"{percent(item.success_without)} ({'+' if change > 0 else ''}{number(change, places)})"


def _class_tables(data: ReportData) -> list[_Grid]:
    tables = []
    for release, classes in data.class_risk.items():
        columns = list(dict.fromkeys(name for item in classes for name in item.attribute))
        rows = tuple(
            (
                f"{item.number:,}",
                f"{item.rows:,}",
                percent(item.identity),
                *(percent(item.attribute[name]) if name in item.attribute else "not run" for name in columns),
            )
            for item in classes[:10]
        )
        if rows:
            tables.append(_Grid(("Class no.", "Rows", IDENTITY, *columns), (("", rows),), text=0, caption=release))
    return tables


# Utility and criteria.


def _plane_figures(data: ReportData, scope: _Scope, heads: Heads) -> list[_Figure]:
    """Risk against the first loss that every release has, one plane for each target; needs two releases."""
    known = [name for name in scope.releases if name in data.utility]
    if len(known) < 2:
        return []
    losses = {name: {m: v for m, v in data.utility[name].items() if isinstance(v, int | float)} for name in known}
    drawn = next((measure for measure in losses[known[0]] if all(measure in losses[name] for name in known)), None)
    if drawn is None:
        return []
    title = _label(drawn, UTILITIES)
    figures = []
    for i, target in enumerate(scope.targets):
        points = [
            plots.Point(name, scope.styles[adversary], losses[name][drawn], row.posterior, row.low, row.high)
            for adversary in scope.adversaries
            for name in known
            if (row := heads.get((name, adversary, target))) is not None
        ]
        if points:
            svg = plots.plane_chart(
                points,
                n_adversaries=len(scope.adversaries),
                loss=title,
                risk="Success",
                label=f"Success against {title}. {_what(target)}. The tables have the figures.",
                key=f"plane{i}",
            )
            figures.append(_Figure(_what(target), svg))
    return figures


def _listing(values: Mapping[str, Mapping[str, Value]], names: Mapping[str, tuple[str, str]], what: str) -> list[_Grid]:
    """Names by releases, with a line of meaning; at most six releases side by side, then another table.

    What has a value in no release is no line of its own, see `_nowhere`.
    """
    tables = []
    releases = list(values)
    unknown = _without_value(values)
    wide = math.ceil(len(releases) / max(1, math.ceil(len(releases) / 6)))
    for start in range(0, len(releases), wide or 1):
        shown = releases[start : start + wide]
        rows = []
        for name in dict.fromkeys(name for release in shown for name in values[release] if name not in unknown):
            stem = name.partition(" ")[0]
            cells = (_value(stem, values[release].get(name)) for release in shown)
            rows.append((_label(name, names), names.get(stem, ("", ""))[1], *cells))
        if rows:
            tables.append(_Grid((what, "Meaning", *shown), (("", tuple(rows)),), text=2, meaning=True))
    return tables


def _nowhere(values: Mapping[str, Mapping[str, Value]], names: Mapping[str, tuple[str, str]]) -> str:
    """What was not run for any release, as one line."""
    return ", ".join(_label(name, names) for name in _without_value(values))


def _without_value(values: Mapping[str, Mapping[str, Value]]) -> list[str]:
    known = {name for own in values.values() for name, value in own.items() if value is not None}
    return [name for name in dict.fromkeys(name for own in values.values() for name in own) if name not in known]


def _label(name: str, names: Mapping[str, tuple[str, str]]) -> str:
    """A name for readers; what follows a space, as in "t_equal (occupation)", is kept."""
    stem, _, suffix = name.partition(" ")
    return f"{names.get(stem, (stem.replace('_', ' '), ''))[0]} {suffix}".strip()


def _value(stem: str, value: Value) -> str:
    if value is None:
        return "not run"
    if isinstance(value, str):
        return value
    return percent(value) if stem in PERCENT else number(value)
