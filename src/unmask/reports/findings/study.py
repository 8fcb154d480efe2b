"""How the page of a study speaks: a finding for every dataset, and what a reader must know about its figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from unmask.measures.registry import SHARES
from unmask.reports.facts.study import Plane, StudyData, StudyRows
from unmask.reports.findings.rows import did, risky, without
from unmask.reports.words import row_estimate, row_value
from unmask.results import Row, StudyRow
from unmask.results.formats import number, percent
from unmask.results.preferred_rows import ERRORS
from unmask.results.words import plural, release_name

ACCESS, PAYOFF, UTILITY, CAMPAIGN = "rational_access", "rational_payoff", "utility", "campaign_success"
"""Measures that say whether an attack pays, how much, and what a protection leaves."""

STOPS, FAILS = 0.1, 0.5
"""Of what an adversary reaches beyond guessing where nothing is protected: a protection stops them if it leaves at most
a tenth, and fails against them if it leaves half or more."""

UNITS = {
    "share": "share that is kept",
    "items": "items linked by one pseudonym",
    "absolute": "minus the expected absolute distortion",
    "euclidean": "minus the expected distance",
    "squared": "minus the expected squared distance",
    "hamming": "minus the probability of a wrong value",
}
"""Unit of utility -> what it counts."""


def findings(data: StudyData) -> list[tuple[str, list[str]]]:
    """For every dataset: its name; a sentence for each target about the riskiest protection; what is undominated."""
    return [(dataset, _of_dataset(data, dataset)) for dataset in data.datasets]


def _of_dataset(data: StudyData, dataset: str) -> list[str]:
    heads = data.spoken[dataset]
    if not heads:
        return ["Nothing is known: no cell of it has a result with a measure of success or error."]
    targets = dict.fromkeys(target for _, _, target in heads)
    said = [
        sentence for target in targets for sentence in (of_target(data, heads, target), *against(data, heads, target))
    ]
    said += [of_plane(data, plane) for plane in data.planes if plane.dataset == dataset]
    return said + of_price(data, dataset)


def of_target(data: StudyData, heads: StudyRows, target: str) -> str:
    """The strongest adversary on the protection where they do best; how far others go; what no protection gives."""
    own = [item for key, item in heads.items() if key[2] == target]
    protected = [item for item in own if item.release not in data.unprotected] or own
    worst = max(protected, key=lambda item: risky(item))
    row, adversaries = worst, {item.adversary for item in own}
    whole = {name for name, _, _ in heads if all((name, who, target) in heads for who in adversaries)}
    off = row.measure in ERRORS
    text = f"From {release_name(row.release)}, the adversary {row.adversary} {did(row)}; {without(row)}."
    if worst.shows_no_gain:
        text += " No gain is shown beyond what they reach without it."
    strongest = sorted((item for item in protected if item.release in whole), key=lambda item: risky(item))
    by = {item.release: item for item in strongest}  # the last of a name, the strongest, stays
    if len(by) > 1:
        least, second = sorted(by.values(), key=lambda item: risky(item))[:2]
        if not _overlap(least, second):
            reached = row_estimate(least)
            against = f"the strongest adversary {'is off by' if off else 'reaches'} {reached}"
            text += f" Of {len(by)} protections {release_name(least.release)} is the best here: {against}."
    bare = None if row.release in data.unprotected else unprotected(data, heads, row)
    if bare is not None:
        text += f" Unprotected {'they are off by' if off else 'it is'} {row_estimate(bare)}."
    return text


def against(data: StudyData, heads: StudyRows, target: str) -> Iterator[str]:
    """Which protections stop every adversary, which none, and which stop some and fail against others.

    Of adversaries of one target who reach more where nothing is protected than without the release, if there are two.
    """
    left = {name: _left(data, heads, name, target) for name in dict.fromkeys(name for name, _, _ in heads)}
    every = {row.adversary for name in data.unprotected for row, _ in left.get(name, ())}
    left = {name: own for name, own in left.items() if len(own) > 1 and name not in data.unprotected}
    whole = {name: own for name, own in left.items() if every <= {row.adversary for row, _ in own}}
    yield from _alike(whole, "every adversary")
    rest = {name: own for name, own in left.items() if name not in whole}
    yield from _alike(rest, "every adversary that was run against them")
    yield from (
        _torn(name, own)
        for name, own in left.items()
        if min(map(_share, own)) <= STOPS and max(map(_share, own)) >= FAILS
    )


Left = tuple[Row, Row]
"""What an adversary reaches with a protection, and unprotected."""


def _left(data: StudyData, heads: StudyRows, name: str, target: str) -> list[Left]:
    rows = (item for (release, _, of), item in heads.items() if (release, of) == (name, target))
    known = (row for row in rows if row.direction == "high" and not math.isnan(row.gain))
    both = ((row, unprotected(data, heads, row)) for row in known)
    return [(row, bare) for row, bare in both if bare is not None and bare.gain > 0]


def _share(left: Left) -> float:
    """Part that is left of what is reached beyond guessing."""
    return max(left[0].gain, 0.0) / left[1].gain


def _alike(left: Mapping[str, Sequence[Left]], who: str) -> Iterator[str]:
    """Which protections do alike against all adversaries here."""
    stops = [name for name, own in left.items() if max(map(_share, own)) <= STOPS]
    fails = [name for name, own in left.items() if min(map(_share, own)) >= FAILS]
    what = "of what is reached beyond guessing without them"
    yield from [f"Against {who}, these leave at most a tenth {what}: {_names(stops)}."] if stops else []
    yield from [f"Against {who}, these leave half or more {what}: {_names(fails)}."] if fails else []


def _torn(name: str, own: Sequence[Left]) -> str:
    """The strongest adversary whom a protection stops, and the strongest against whom it fails."""
    stopped, before = min(own, key=lambda left: (_share(left) > STOPS, -left[1].posterior))
    strong, bare = max(own, key=lambda left: (_share(left) >= FAILS, left[0].posterior))
    return (
        f"{release_name(name)} stops the adversary {stopped.adversary} ({row_value(stopped)} instead of "
        f"{row_value(before)}) and fails against {strong.adversary}: {row_value(strong)} instead of {row_value(bare)}."
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(release_name, names))


def unprotected(data: StudyData, heads: StudyRows, row: Row) -> Row | None:
    """What the same adversary reaches, of the same target, where nothing is protected."""
    return next((item for key, item in heads.items() if key[0] in data.unprotected and _same(item, row)), None)


def _same(one: Row, other: Row) -> bool:
    return (one.adversary, one.target, one.measure) == (other.adversary, other.target, other.measure)


def _overlap(one: Row, other: Row) -> bool:
    """Whether two values cannot be told apart: their intervals meet."""
    a, b, c, d = one.low, one.high, other.low, other.high
    return a is not None and b is not None and c is not None and d is not None and a <= d and c <= b


def of_plane(data: StudyData, plane: Plane) -> str:
    """Which protections no other beats."""
    judged, best = plane.judged, plane.undominated
    shown = ", ".join(release_name(name) for name in best[:8]) or "none"
    more = f" and {len(best) - 8} more" if len(best) > 8 else ""
    are = "is" if len(best) == 1 else "are"
    failed = [gap.protection for gap in data.missing if gap.dataset == plane.dataset]
    open_ = [name for name in dict.fromkeys((*plane.protections, *failed)) if name not in judged]
    left = f" Not judged, for want of a result: {len(open_)} more." if open_ else ""
    return (
        f"{len(best)} of {len(judged)} protections {are} undominated in utility and in the "
        f"{'success' if plane.direction == 'high' else 'error'} of the strongest adversary: {shown}{more}.{left}"
    )


def _reckoning(data: StudyData, dataset: str) -> tuple[str, ...]:
    """Adversaries who count what an attack is worth."""
    rows = (item for item in data.rows if item.dataset == dataset)
    return tuple(dict.fromkeys(row.adversary for row in rows if row.measure == ACCESS))


def of_price(data: StudyData, dataset: str) -> list[str]:
    """What an attack is worth to each adversary who reckons."""
    return [_of_price(data, dataset, adversary) for adversary in _reckoning(data, dataset)]


def _of_price(data: StudyData, dataset: str, adversary: str) -> str:
    """What an attack is worth to somebody who reckons, and against which protections no campaign pays.

    Where no campaign was reckoned, attacks on one person alone.
    """
    own = [item for item in data.rows if item.dataset == dataset and item.adversary == adversary]
    together = any(row.measure == CAMPAIGN for row in own)
    wanted = (CAMPAIGN if together else ACCESS, PAYOFF, UTILITY)
    attacked, worth, kept = ({row.release: row for row in own if row.measure == m} for m in wanted)
    what = "campaign against all people" if together else "attack on one person alone"
    bare = next((row for name, row in worth.items() if name in data.unprotected), None)
    start = f"To the adversary {adversary}, who reckons before acting, "
    if bare is not None:
        start += f"an attack on one person alone in the unprotected data is worth {row_estimate(bare)} on average; "
    protected = [name for name in attacked if name not in data.unprotected]
    idle = [name for name in protected if attacked[name].posterior == 0]
    if idle:
        best = max(idle, key=lambda name: kept[name].posterior if name in kept else -math.inf)
        useful = (
            f", which keeps a utility of {utility_words(kept[best].unit, kept[best].posterior)}" if best in kept else ""
        )
        which = "the most useful of them is " if len(idle) > 1 else ""
        some = f"with {len(idle)} of {len(protected)} protections no {what} pays"
        return f"{start}{some}: {which}{release_name(best)}{useful}."
    least = min((row for name, row in worth.items() if name in protected), key=lambda row: row.posterior, default=None)
    none = f"with every protection some {what} pays"
    return f"{start}{none}" + (f": {release_name(least.release)} leaves {row_estimate(least)}." if least else ".")


def utility_words(unit: str, value: float) -> str:
    """A utility with the digits it needs."""
    return percent(value) if unit in SHARES else number(value)


def who(data: StudyData) -> str:
    """What was run, in a sentence."""
    adversaries = plural(len(data.adversaries), "adversary attacks", "adversaries attack")
    times = f", {data.seeds:,} times with other draws" if data.seeds > 1 else ", once"
    protections, datasets = plural(len(data.protections), "protection"), plural(len(data.datasets), "dataset")
    return f"{adversaries} {protections} of {datasets}{times}."


def interval_note(rows: Sequence[StudyRow]) -> str:
    """Over what the intervals are."""
    kinds = {item.interval if item.seeds == 1 else "seeds" for item in rows if item.low is not None}
    if not kinds:
        return "No interval was computed: values are of one seed."
    said = "seeds, by Student's t" if "seeds" in kinds else ""
    others = sorted(kinds - {"seeds"})
    return "Brackets are 95 % intervals over " + "; ".join([*([said] if said else []), *others]) + "."
