"""Findings of rows: a value, its interval, the baseline and n, in a sentence each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unmask.findings.conditions import split_sentences
from unmask.findings.row_words import points, row_estimate, row_value
from unmask.languages import gettext as _
from unmask.languages import group, mark, retranslate
from unmask.measures.registry import SHARES, needs_truth
from unmask.results import Result, Row
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, number, percent
from unmask.results.names import APART, COLLECTOR, IDENTITY, LINKAGE, MEMBERSHIP, ORDER_READER, PROSECUTOR, SECRET
from unmask.results.rows import ERRORS, ORIGINAL, RATIONAL, PreferredRows
from unmask.results.scope import Scope
from unmask.results.words import release_name


def describe_success(row: Row) -> str:
    """Return the end of a sentence about an adversary's success: "re-identifies 25 % [20, 30] of 300 people"."""
    fields = {"value": row_estimate(row), "n": group(row.n)}
    if row.measure == "singled_out":
        return _("singles out a person with {value} of {n} guesses", **fields)
    if row.measure == "parts_linked":
        return _("links two parts of the record of {value} of {n} people", **fields)
    if row.excess is not None:
        return describe_excess(row)
    if row.measure in ERRORS:
        if row.unit not in SHARES:
            return _("is off by {value} {unit} on average over {n} cases", unit=row.unit, **fields)
        return _("is wrong in {value} of {n} cases", **fields)
    realized = needs_truth(row.measure)
    if row.target == LINKAGE:
        if row.measure == "breached":
            return _("breaches {value} of {n} subjects", **fields)
        return _("links {value} of a subject's items on average, over {n} subjects", **fields)
    if row.measure in RATIONAL and realized:
        return _("re-identifies {value} of {n} people, by as many tries as pay for each of them", **fields)
    if row.measure in RATIONAL:
        return _("expects to re-identify {value} of {n} people, by as many tries as pay for each of them", **fields)
    return _describe_guess(row.target, fields, is_realized=realized)


def _describe_guess(target: str, fields: Mapping[str, str], *, is_realized: bool) -> str:
    """Return the success of a best guess about a target: what it reaches, or what the adversary expects."""
    if target == IDENTITY and is_realized:
        return _("re-identifies {value} of {n} people", **fields)
    if target == IDENTITY:
        return _("expects to re-identify {value} of {n} people", **fields)
    if target == MEMBERSHIP and is_realized:
        return _(
            "recognizes members and non-members correctly for {value} of {n} people, half of them members", **fields
        )
    if target == MEMBERSHIP:
        return _(
            "expects to recognize members and non-members correctly for {value} of {n} people, half of them members",
            **fields,
        )
    if target == SECRET and is_realized:
        return _("guesses the secret in {value} of cases", **fields)
    if target == SECRET:
        return _("expects to guess the secret in {value} of cases", **fields)
    if is_realized:
        return _("infers {target} correctly for {value} of {n} people", target=target, **fields)
    return _("expects to infer {target} correctly for {value} of {n} people", target=target, **fields)


def describe_guessing(row: Row) -> str:
    """Return the success without the release.

    For linkage it is the success of clusters of the same sizes with shuffled labels.
    """
    value = percent(row.prior) if row.unit in SHARES else number(row.prior)
    if row.measure in ERRORS and row.unit in SHARES:
        return _("without the release in {value}", value=value)
    if row.measure in ERRORS:
        return _("without the release by {value}", value=value)
    if row.target == LINKAGE:
        return _("shuffled labels give {value}", value=value)
    return _("guessing gives {value}", value=value)


def describe_result(row: Row) -> str:
    """Return the success, and what guessing gives."""
    return _("{success}; {guessing}", success=describe_success(row), guessing=describe_guessing(row))


def describe_excess(row: Row) -> str:
    """Return the success that people's own records added, compared with that on the control group."""
    assert row.control is not None
    if _none_shown(row):
        message = mark("is not shown to learn {target} from people's own records ({points})")
    else:
        message = mark("gains {points} of success with {target} from people's own records")
    comparison = _(
        "{gain}: they infer it correctly for {value} of {n} people, and for {control} of the control group, who are "
        "not in the release",
        gain=_(message, target=row.target, points=points(row)),
        value=row_estimate(row),
        n=row.n,
        control=percent(row.control),
    )
    return f"{comparison}{_by_the_best(row)}"


def _by_the_best(row: Row) -> str:
    """Return the excess over the strongest attack on the control group, if that is another attack."""
    assert row.control is not None
    if row.baseline is None or round(row.baseline, 4) <= round(row.control, 4):
        return ""
    remainder = max(row.posterior - row.baseline, 0.0)
    return _(
        "; another attack with the same knowledge reaches {value} of these, so only {points}\u00a0points need their "
        "own records",
        value=percent(row.baseline),
        points=number(100 * remainder, 1),
    )


def _none_shown(row: Row) -> bool:
    """Return whether the interval of the excess includes 0."""
    low, high = row.excess_low, row.excess_high
    return low is None or high is None or low <= 0


def severity(row: Row) -> float:
    """Return a value as a severity: higher is worse, for any direction of the measure. Undefined values are lowest."""
    value = row.posterior if row.direction == "high" else -row.posterior
    return -math.inf if math.isnan(value) else value


def sentences(result: Result) -> list[str]:
    """Return the findings of the report, a sentence each, in the active language if it has their words."""
    scope = Scope(result)
    heads = {key: row for key, row in scope.heads.items() if row.measure not in result.described_measures}
    rows = [*list_findings(scope, select_leading(heads)), *wildcard_findings(scope)]
    blocks = (" ".join(map(retranslate, split_sentences(text))) for text in result.without_small().sentences())
    return [*blocks, *rows] if result.headline else [*rows, *blocks]


def select_leading(heads: PreferredRows[Row]) -> PreferredRows[Row]:
    """Return the rows that may lead the findings: no adversary of `APART`, and row order only if it is strongest."""
    ordinary = {key: row for key, row in heads.items() if key[1] not in {*APART, ORDER_READER} and key[2] != MEMBERSHIP}
    strongest: dict[str, float] = {}
    for (release, _adversary, target), row in ordinary.items():
        if target == IDENTITY:
            strongest[release] = max(strongest.get(release, 0.0), row.posterior)

    def leads(release: str, adversary: str, row: Row) -> bool:
        return adversary == ORDER_READER and row.posterior > strongest.get(release, 0.0)

    return {key: row for key, row in heads.items() if key in ordinary or leads(key[0], key[1], row)}


def select_distribution(release: str, scope: Scope) -> Distribution | None:
    """Return the distribution of risk over people for the strongest adversary, of re-identification if possible."""
    spread = {(item.release, item.adversary, item.target): item for item in scope.result.distribution}
    rows = [(key, row) for key, row in select_leading(scope.heads).items() if key[0] == release and key in spread]
    candidates = [item for item in rows if item[0][2] == IDENTITY] or rows
    return spread[max(candidates, key=lambda item: item[1].posterior)[0]] if candidates else None


def list_findings(scope: Scope, heads: PreferredRows[Row]) -> list[str]:
    """Return for each target the riskiest release of the two strongest adversaries, and the range of other releases."""
    sentences = []
    for target in scope.targets:
        rows_by_adversary: list[list[Row]] = []
        for adversary in scope.adversaries:
            rows = [heads[key] for r in scope.protected if (key := (r, adversary, target)) in heads]
            if rows:
                rows_by_adversary.append(sorted(rows, key=lambda row: -row.posterior))
        rows_by_adversary.sort(key=lambda rows: -rows[0].posterior)
        for rows in rows_by_adversary[:2]:
            original = heads.get((ORIGINAL, rows[0].adversary, target))
            sentences.append(_finding(scope, rows, original if original not in rows else None))
    return sentences


def wildcard_findings(scope: Scope) -> list[str]:
    """Return how far average prosecutor risk understates the adversary if missing cells match any value.

    The criterion takes all records that fit as alike; the adversary prefers those that state what they know. About the
    release where the two are farthest apart.
    """
    gaps = []
    for (release, adversary, target), row in scope.heads.items():
        criteria = scope.result.criteria.get(release, {})
        published = criteria.get("prosecutor_average")
        claimed = criteria.get("missing") == "wildcard" and criteria.get("rows_missing") and target == IDENTITY
        if claimed and isinstance(published, float) and adversary == PROSECUTOR and row.posterior > 1.1 * published:
            gaps.append((row.posterior / published, release, row, published))
    if not gaps:
        return []
    times, release, row, published = max(gaps, key=lambda gap: gap[0])
    subject = f"From {release_name(release)}, an" if len(scope.protected) > 1 else "An"
    verb = "re-identifies" if needs_truth(row.measure) else "expects to re-identify"
    preferred = f"{subject} adversary prefers records whose cells were not suppressed and {verb} {row_value(row)}"
    criterion = (
        f"The published criterion treats all matching records as equal and gives {percent(published)} on average"
    )
    return [f"{preferred}. {criterion}, which understates the risk {times:.1f}-fold."]


def _finding(scope: Scope, rows: Sequence[Row], original: Row | None) -> str:
    row, subject = rows[0], scope.subject(rows[0].adversary)
    several = len(scope.protected) > 1
    start = (
        _("From {release}, {subject}", release=release_name(row.release), subject=subject)
        if several
        else subject[0].upper() + subject[1:]
    )
    text = _("{subject} {result}.", subject=start, result=describe_result(row))
    if row.low is not None and row.high is not None and row.low <= row.prior <= row.high:
        text += " The interval includes guessing: no gain is shown."
    if len(rows) > 1:
        part = f"{len(rows)} of " if len(rows) < len(scope.protected) else ""
        lowest = f"{release_name(rows[-1].release)} with {row_estimate(rows[-1])}"
        text += f" The lowest of {part}{len(scope.protected)} releases is {lowest}."
    return text + (f" The unprotected table gives {row_estimate(original)}." if original else "")


def list_contrasts(scope: Scope) -> list[str]:
    """Return the targets that gain little protection from a release that hides identities better than another.

    Gains over guessing are compared: success has another baseline for each target.
    """
    heads, sentences = scope.heads, []
    for target in (name for name in scope.targets if name not in (IDENTITY, MEMBERSHIP)):
        pairs = [
            (heads[identity_key], heads[target_key])
            for release in scope.protected
            for adversary in scope.adversaries
            if adversary != COLLECTOR  # who has all the releases, whichever is spoken of
            if (identity_key := (release, adversary, IDENTITY)) in heads
            and (target_key := (release, adversary, target)) in heads
        ]
        pairs = [pair for pair in pairs if pair[0].gain > 0 and pair[1].gain > 0]
        if not pairs:
            continue
        worst = max(pairs, key=lambda pair: pair[0].gain)
        safest = min((p for p in pairs if p[0].adversary == worst[0].adversary), key=lambda pair: pair[0].gain)
        identity_ratio, inferred = (worst[i].gain / safest[i].gain for i in (0, 1))
        if (
            identity_ratio >= 1.5
            and _are_separate(worst[0], safest[0])
            and 1 <= inferred < 1 + (identity_ratio - 1) / 4
        ):
            first = f"from {row_value(worst[0])} to {row_value(safest[0])}"
            second = f"from {number(100 * worst[1].gain, 1)} to {number(100 * safest[1].gain, 1)}{SPACE}points"
            start, end = release_name(worst[0].release), release_name(safest[0].release)
            sentences.append(
                f"From {start} to {end}, re-identification falls {first}, but the gain of inferring {target} only "
                f"{second}: protecting identities does not protect {target}."
            )
    return sentences


def _are_separate(high: Row, low: Row) -> bool:
    """Return whether the intervals of two rows do not touch; True without intervals."""
    return high.low is None or low.high is None or high.low > low.high
