"""Tables of a linkage audit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from unmask.linkage.audit.facts import Curve, GuessFacts, LinkageFacts
from unmask.measures.registry import PARTITION_SCORES
from unmask.results import Column, Table
from unmask.results.formats import percent

N_DRAWN = 6
"""Largest number of guesses in one chart."""

MAX_ERRORS = 300
"""Largest number of distinct errors with a row each; above it, similar errors share a row."""

Error = tuple[int, int, int]

AVERAGE, WORST = "average subject", "most exposed tenth"

BREACHED, CLEAN, RANDOM = "breached", "breached, no items of others", "breached by random guesses"

GUESS, STYLE, DRAWN = Column("guess", "Guess"), Column("style", "Style", "number"), Column("drawn", "Drawn")

THRESHOLD = Column("threshold", "Threshold \u03b2: share of items linked", "share")


def make_tables(facts: LinkageFacts) -> tuple[Table, ...]:
    """Return all tables of a linkage audit."""
    tables = (
        _summary_table(facts),
        _guess_table(facts),
        _score_table(facts.guesses),
        _link_table(facts),
        _threshold_table(facts),
        _slope_table(facts),
        curve_table(facts),
        error_table(facts),
    )
    return tuple(table for table in tables if table.rows)


def drawn_guesses(facts: LinkageFacts) -> list[tuple[GuessFacts, int]]:
    """Return the strongest guesses, as many as fit a chart, each with a style number.

    The number is the position among all guesses. If two drawn guesses would have the same style, it is the position in
    the chart.
    """
    position = {guess.name: i for i, guess in enumerate(facts.guesses)}
    strongest = facts.strongest_first[:N_DRAWN]
    styles = [position[guess.name] for guess in strongest]
    distinct = len({style % N_DRAWN for style in styles}) == len(styles)
    return list(zip(strongest, styles if distinct else range(len(styles)), strict=True))


def _styled_guesses(facts: LinkageFacts) -> Iterator[tuple[GuessFacts, int, bool]]:
    """Yield the guesses, strongest first, with a style number, and True if the guess is drawn."""
    styles = {guess.name: style for guess, style in drawn_guesses(facts)}
    for i, guess in enumerate(facts.strongest_first):
        yield guess, styles.get(guess.name, i), guess.name in styles


def _summary_table(facts: LinkageFacts) -> Table:
    columns = (
        Column("items", "Items", "number"), Column("subjects", "Subjects", "number"),
        Column("counted", "Counted subjects", "number"), Column("min_size", "Fewest items", "number"),
        Column("alpha", "\u03b1", "number"), Column("beta", "\u03b2", "share"),
        Column("wanted", "Foreign items welcome"), Column("unlabeled", "Unlabeled items"), Column("own", "Own values"),
    )  # fmt: skip
    values = vars(facts) | {"own": ", ".join(facts.own)}
    return Table.from_records("linkage", columns, [[values[column.name] for column in columns]])


def guess_heading(baseline: str) -> str:
    """Return the column heading for breaches by random guesses."""
    return "Shuffled" if baseline == "shuffled" else "Random"


def _guess_table(facts: LinkageFacts) -> Table:
    """Return breaches, merges and inequality of each guess, strongest first."""
    columns = (
        Column("name", "Guess"), Column("clusters", "Clusters", "number"), Column("partitions", "Partitions", "number"),
        Column("breached", "Breached", "share"), Column("breached_at_least", "Breached at least", "share"),
        Column("guessing", guess_heading(facts.baseline), "share"),
        Column("clean", "Clean", "share"), Column("clean_at_least", "Clean at least", "share"),
        Column("breached_alone", "Breached by one partition", "share"),
        Column("clean_alone", "Clean by one partition", "share"), Column("one_away", "One away", "share"),
        Column("median_merges", "Median merges", "number"), Column("most_merges", "Most", "number"),
        Column("gini", "Gini", "number", places=2), Column("jain", "Jain", "number", places=2),
        Column("recovered", "Recovered", "share"), Column("unlabeled", "Unlabeled items", "people"),
        Column("kind", "Kind"),
    )  # fmt: skip
    views = any(guess.partitions > 1 for guess in facts.guesses)
    names = [column.name for column in columns if views or column.name != "partitions"]
    records = ([record[name] for name in names] for record in map(_guess_record, facts.strongest_first))
    return Table.from_records("linkage_guesses", (column for column in columns if column.name in names), records)


def _guess_record(guess: GuessFacts) -> dict[str, Any]:
    """Return the values of a guess by column, None if unknown."""
    bounds = {f"{name}_at_least": guess.at_least.get(name) for name in ("breached", "clean")}
    one_by_one = {f"{name}_alone": guess.one_by_one.get(name) for name in ("breached", "clean")}
    values = vars(guess) | bounds | one_by_one | {"unlabeled": guess.unlabeled or None, "kind": guess.kind or None}
    return {name: None if value != value else value for name, value in values.items()}  # nan differs from itself


def _score_table(guesses: Iterable[GuessFacts]) -> Table:
    """Return the scores of whole partitions, known scores first, then by guess."""
    columns = (
        Column("score", "Score"), Column("meaning", "Meaning"), GUESS, Column("value", "Value", "number", places=3)
    )  # fmt: skip
    scores = {guess.name: guess.whole for guess in guesses}
    shown = dict.fromkeys(name for values in scores.values() for name in values)
    order = [*(name for name in PARTITION_SCORES if name in shown), *(n for n in shown if n not in PARTITION_SCORES)]
    records = (
        (*_describe_score(name), guess, values[name])
        for name in order
        for guess, values in scores.items()
        if name in values
    )
    return Table.from_records("linkage_scores", columns, records)


def _describe_score(name: str) -> tuple[str, str]:
    definition = PARTITION_SCORES.get(name)
    return (name.replace("_", " "), "") if definition is None else (definition.label, definition.meaning)


def _link_table(facts: LinkageFacts) -> Table:
    """Return the breaches at each score threshold of links."""
    columns = (
        Column("links", "Links"), Column("subjects", "Subjects"),
        Column("score", "Threshold: least score of a link", "number"), Column("share", "Share of subjects", "share"),
        Column("largest", "Largest cluster, share of items", "share"), Column("clusters", "Clusters", "number"),
    )  # fmt: skip
    scored = sorted((guess for guess in facts.guesses if guess.links), key=lambda guess: (guess.links, guess.score))
    records = (
        (guess.links, line, guess.score, share, guess.largest, guess.clusters)
        for guess in scored
        for line, share in ((BREACHED, guess.breached), (CLEAN, guess.clean), (RANDOM, guess.guessing))
    )
    return Table.from_records("linkage_links", columns, records)


def _threshold_table(facts: LinkageFacts) -> Table:
    """Return the share of subjects breached at each threshold, and by random guesses at the chosen threshold."""
    columns = (GUESS, STYLE, Column("mark", "Mark"), DRAWN, THRESHOLD, Column("breached", "Subjects breached", "share"))
    records = (
        (guess.name, style, mark, is_drawn, beta, share)
        for guess, style, is_drawn in _styled_guesses(facts)
        for mark, points in (
            ("point", zip(facts.betas, guess.breach_rates, strict=False)),
            ("hollow", [(facts.beta, guess.guessing)]),
        )
        for beta, share in points
    )
    return Table.from_records("linkage_thresholds", columns, records if facts.betas else ())


def _slope_table(facts: LinkageFacts) -> Table:
    columns = (GUESS, Column("alpha", "\u03b1"), THRESHOLD, Column("slope", "Risk slope", "number"))
    records = (
        (guess.name, f"\u03b1 {alpha:.3g}", beta, slope)
        for guess in facts.guesses
        for alpha, slopes in sorted(guess.slopes, reverse=True)
        for beta, slope in zip(facts.betas, slopes, strict=True)
    )
    return Table.from_records("linkage_slopes", columns, records)


def curve_table(facts: LinkageFacts) -> Table:
    """Return linked and mixed shares by number of merges, until all curves are flat."""
    columns = (
        GUESS, STYLE, DRAWN, Column("comparable", "Comparable"), Column("subjects", "Subjects"),
        Column("n", "Number of subjects", "group"), Column("merges", "Merges (clusters joined)", "number"),
        Column("linked", "Own items linked", "share"), Column("mixed", "Items of others mixed in", "share"),
    )  # fmt: skip
    single = len(facts.guesses) == 1
    records = (
        (guess.name, style + shift * single, is_drawn, guess.name != facts.far_guess, subjects, n, j, *values)
        for guess, style, is_drawn in _styled_guesses(facts)
        for shift, (subjects, n, linked, mixed) in enumerate(_curves(guess, facts))
        for j, values in enumerate(_prolong(linked, mixed, facts.horizon))
    )
    return Table.from_records("linkage_curves", columns, records)


def _curves(guess: GuessFacts, facts: LinkageFacts) -> Iterator[tuple[str, int | None, Curve, Curve]]:
    """Yield the curves of the average subject and of the most exposed tenth, or of all breached subjects if more."""
    yield AVERAGE, None, guess.linked_curve, guess.mixed_curve
    breached = guess.breached > 0.1
    label = f"the {percent(guess.breached)} breached" if breached and len(facts.guesses) == 1 else WORST
    n = round((guess.breached if breached else 0.1) * facts.counted)
    yield label, n, guess.worst_linked, guess.worst_mixed


def _prolong(linked: Curve, mixed: Curve, horizon: int) -> Iterator[tuple[float, float | None]]:
    """Yield both values after 0 to `horizon` merges; a curve continues with its last value, None if it is empty."""
    for j in range(horizon + 1 if linked else 0):
        yield linked[min(j, len(linked) - 1)], mixed[min(j, len(mixed) - 1)] if mixed else None


def error_table(facts: LinkageFacts) -> Table:
    """Return the number of subjects for each pair of misses and includes, most frequent first."""
    columns = (
        GUESS, STYLE, Column("misses", "Misses: own items lacking", "number"),
        Column("includes", "Includes: items of others", "number"), Column("subjects", "Subjects", "group"),
    )  # fmt: skip
    records = (
        (guess.name, style, miss, include, n)
        for guess, style, _ in _styled_guesses(facts)
        for miss, include, n in sorted(_gather(guess.miss_include), key=lambda error: (-error[2], error[:2]))
    )
    return Table.from_records("linkage_errors", columns, records)


def _gather(errors: tuple[Error, ...]) -> list[Error]:
    """Return errors; if there are many, merge those in the same cell of a 40 x 40 grid."""
    if len(errors) <= MAX_ERRORS:
        return list(errors)
    steps = [max(1, math.ceil(max(error[axis] for error in errors) / 40)) for axis in (0, 1)]
    cells: dict[tuple[int, int], int] = {}
    for miss, include, n in errors:
        cell = steps[0] * round(miss / steps[0]), steps[1] * round(include / steps[1])
        cells[cell] = cells.get(cell, 0) + n
    return [(*cell, n) for cell, n in cells.items()]
