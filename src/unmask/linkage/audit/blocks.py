"""Findings about guesses as blocks of a page: thresholds, breaches, merges, misses and includes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import partial

from unmask.languages import gettext as _
from unmask.languages import group, mark
from unmask.linkage.audit.facts import BASELINES, FLAT, GuessFacts, LinkageFacts, largest
from unmask.linkage.audit.sentences import (
    breached_by_definition,
    findings,
    name_guess,
    nearness,
    plain,
    policy,
    setting,
    share_of,
    threshold,
)
from unmask.linkage.audit.tables import AVERAGE, N_DRAWN, WORST, curve_table, drawn_guesses, guess_heading
from unmask.results import Advice, AtRisk, Block, Chart, Fact, Table
from unmask.results.formats import percent
from unmask.results.suppression import FEWEST, mark_people, suppress_small_counts
from unmask.results.words import plural

N_PANELS = 4
"""Largest number of guesses with a chart each."""

EVEN = 0.05
"""Relative range of values below which a chart is replaced by a sentence."""

COLUMNS = (
    "Breached, clean and one away are shares of subjects. {guess}: breached by {clusters}, on average. Clean: breached "
    "by a cluster without a single item of others. One away: not breached, and breached once one more cluster is "
    "joined. Merges: clusters to join until the threshold, 0 where it is reached already. Gini (0 even, 1 uneven) and "
    "Jain (1 even) compare the risk of subjects. Kind: conservative guesses miss more items than they include, liberal "
    "ones the other way round."
)

LINK_NOTE = (
    "Each threshold is an adversary who accepts the links with at least this score; chains of links are clusters. At "
    "\u03b1 1, never fewer subjects are breached at a lower threshold. At a smaller \u03b1 it may be fewer: a cluster "
    "that takes in many items of others is no longer the most relevant one."
)

ORDER_NOTE = "The guess that breaches most beyond random guesses comes first."

VIEW_NOTE = (
    "A guess of several partitions is a view: its rates are expected over the partitions, and its clusters are those "
    "of the first."
)

SCORE_NOTE = "Common scores of a clustering as a whole. They do not tell who is breached."

SLOPE_NOTE = (
    "The risk slope is that of the average subject: how steeply its linked share rises to the threshold, and with "
    "weight 1 \u2212 \u03b1 how steeply the mixed share does; 1 if the threshold is reached at once. At \u03b1 1 "
    "only what is linked counts, at \u03b1 0 only what is mixed in of others."
)

ERROR_NOTE = (
    "The area of a bubble is its number of subjects. At the left, all items of a subject are together; at the bottom, "
    "no item of others is with them; in the corner the adversary is right about the subject. Errors of few subjects "
    "are left out of a shared page."
)

MERGE_NOTE = "All subjects have the same number of merges."

FOREIGN_NOTE = (
    "Items of others are a share of all that other subjects have: in large sets it stays small although most of a "
    "cluster may belong to others."
)

RENAME = mark("Compare pseudonyms that change after each period, with unmask study:")


def make_blocks(facts: LinkageFacts) -> tuple[Block, ...]:
    """Return the blocks of a linkage audit after the headline, in page order."""
    blocks = (
        _threshold_block(facts),
        _link_block(facts),
        _guess_block(facts),
        _score_block(facts),
        _merge_block(facts),
        _error_block(facts),
    )
    return tuple(block for block in blocks if block is not None)


def _threshold_block(facts: LinkageFacts) -> Block:
    sentences = findings(facts)[1:]
    caption = "How many subjects would be breached if another share of their items were the limit."
    chosen = {f"\u03b2 {plain(facts.beta)}": facts.beta}
    if not facts.betas:
        return Block("linkage", "Which items the adversary links", " ".join(sentences), open=True)
    chart = Chart(
        "lines", "linkage_thresholds", "threshold", "breached", by="guess", style="style", mark="mark",
        title="Subjects breached, by threshold", x_rules=chosen, x_max=1.0, where={"drawn": True},
    )  # fmt: skip
    sloping = [guess for guess, _ in drawn_guesses(facts)[:N_PANELS] if guess.slopes]
    top = largest([slopes for guess in sloping for _, slopes in guess.slopes])
    slopes = (
        Chart(
            "lines", "linkage_slopes", "threshold", "slope", by="alpha",
            title="Risk slope, by threshold" if len(facts.guesses) == 1 else f"Risk slope: {guess.name}",
            x_rules=chosen, x_max=1.0, y_max=top, where={"guess": guess.name},
        )
        for guess in sloping
    )  # fmt: skip
    hollow = f"Hollow: breached by {BASELINES[facts.baseline].clusters}, at \u03b2 {plain(facts.beta)}."
    notes = (hollow, *((SLOPE_NOTE,) if sloping else ()))
    return Block(
        "linkage", "Which items the adversary links", " ".join(sentences) or caption, (chart, *slopes), notes=notes,
        open=True, is_finding=bool(sentences),
    )  # fmt: skip


def _link_block(facts: LinkageFacts) -> Block | None:
    """Return the breaches over the score threshold of links, with a chart for each file."""
    files = Counter(guess.links for guess in facts.guesses if guess.links)
    if not files:
        return None
    charts = tuple(
        Chart(
            "lines", "linkage_links", "score", "share", by="subjects", y_max=1.0, where={"links": name},
            title="Breached by threshold" if len(files) == 1 else f"Breached by threshold: {name}",
        )
        for name, n_thresholds in files.items() if n_thresholds > 1
    )  # fmt: skip
    strongest = max((guess for guess in facts.guesses if guess.links), key=lambda guess: guess.strength)
    sentence = (
        f"The threshold {strongest.score:.4g} is the most dangerous one: {share_of(strongest, 'breached')} of subjects "
        f"are breached, {share_of(strongest, 'clean')} without a single item of others."
    )
    return Block("thresholds", "Breached by threshold", sentence, charts, notes=(LINK_NOTE,))


def _guess_block(facts: LinkageFacts) -> Block:
    notes = [COLUMNS.format(guess=guess_heading(facts.baseline), clusters=BASELINES[facts.baseline].clusters)]
    if len(facts.guesses) > 1:
        notes.append(ORDER_NOTE)
    if any(guess.partitions > 1 for guess in facts.guesses):
        notes.append(VIEW_NOTE)
    heading = "Who is breached, and how near the others are"
    sentence = nearness(facts.strongest_first[0])
    introduction = " ".join((setting(facts), policy(facts), *breached_by_definition(facts)))
    return Block(
        "guesses", heading, sentence, (), ("linkage_guesses",), introduction, tuple(notes), is_finding=False
    )  # fmt: skip


def _score_block(facts: LinkageFacts) -> Block | None:
    if not any(guess.whole for guess in facts.guesses):
        return None
    return Block("scores", "Scores of the whole partition", SCORE_NOTE, (), ("linkage_scores",), is_finding=False)


# --- by merges -------------------------------------------------------------------------------------------------------


def _merge_block(facts: LinkageFacts) -> Block | None:
    """Return linked and mixed shares by number of merges; a flat chart is replaced by a sentence."""
    if not any(guess.linked_curve for guess in facts.guesses):
        return None
    table = curve_table(facts)
    charts = [*_merge_charts("linked", facts, table), *_merge_charts("mixed", facts, table)]
    uneven = tuple(chart for chart in charts if not _is_even(chart, table))
    notes = (*_merge_notes(facts), *(_describe_even(chart, table) for chart in charts if _is_even(chart, table)))
    return Block("merges", "By clusters joined", _after_one_merge(facts.strongest_first[0]), uneven, notes=notes)


def _after_one_merge(guess: GuessFacts) -> str:
    curve = guess.linked_curve
    if len(curve) < 2:
        return ""
    now, then = percent(curve[0]), percent(curve[1])
    return f"{now} of the average subject's items are in one cluster, and {then} once one more is joined to it."


def _merge_charts(values: str, facts: LinkageFacts, table: Table) -> Iterator[Chart]:
    """Yield charts of linked or mixed shares: one chart for a single guess, one for each group of subjects
    otherwise.
    """
    if values == "mixed" and not facts.mixes:
        return
    title = table.column(values).label
    if values == "mixed" and facts.wanted:
        title = "Items of others still lacking"
    rules = {f"\u03b2 {plain(facts.beta)}": facts.beta} if values == "linked" else {}
    y_max = 1.0 if values == "linked" else facts.mixed_scale
    draw = partial(Chart, "lines", table.name, "merges", values, style="style", rules=rules, y_max=y_max)
    if len(facts.guesses) == 1:
        yield draw(by="subjects", title=title)
        return
    for subjects in (AVERAGE, WORST):
        where = {"drawn": True, "subjects": subjects} | ({"comparable": True} if values == "mixed" else {})
        if table.where(**where).rows:
            yield draw(by="guess", title=f"{title}, {subjects}", where=where)


def _shown_values(chart: Chart, table: Table) -> dict[str, list[float]]:
    """Return series -> values that are not suppressed."""
    series: dict[str, list[float]] = {}
    for row in suppress_small_counts(table.where(**chart.where), FEWEST).rows:
        if row[chart.y] is not None:
            series.setdefault(row[chart.by], []).append(row[chart.y])
    return series


def _is_even(chart: Chart, table: Table) -> bool:
    """Return True if all series of the chart are nearly constant."""
    values = [value for series in _shown_values(chart, table).values() for value in series if math.isfinite(value)]
    return bool(values) and max(values) - min(values) <= EVEN * chart.y_max


def _describe_even(chart: Chart, table: Table) -> str:
    ends = (
        f"{name}: {percent(values[0])} to {percent(values[-1])}" for name, values in _shown_values(chart, table).items()
    )
    n_merges = max(len(values) for values in _shown_values(chart, table).values()) - 1
    return f"{chart.title}, after 0 to {plural(n_merges, 'merge')}, too even to draw: {'; '.join(ends)}."


def _merge_notes(facts: LinkageFacts) -> Iterator[str]:
    """Yield explanations of the curves over merges."""
    yield f"{MERGE_NOTE} {FOREIGN_NOTE}" if facts.mixes else MERGE_NOTE
    if any(guess.breached > 0.1 for guess in facts.guesses):
        yield "Where more than a tenth of the subjects is breached, all of these count as the most exposed tenth."
    if not facts.mixes:
        yield "No item of others is mixed in at any number of merges; no chart is drawn of that."
    if (far := facts.far_guess) is not None:
        yield f"{name_guess(far)} mixes in far more than all others; it is left out of that chart."
    longest = max(len(guess.linked_curve) for guess in facts.guesses)
    if longest - 1 > facts.horizon:
        yield f"Beyond {plural(facts.horizon, 'merge')} no curve moves by more than {plain(FLAT)} of its scale."
    if len(facts.guesses) > N_DRAWN:
        yield f"The {N_DRAWN} strongest guesses are drawn; the table has all {len(facts.guesses)}."


# --- misses and includes ---------------------------------------------------------------------------------------------


def _error_block(facts: LinkageFacts) -> Block | None:
    """Return misses against includes, a chart for each guess with equal scales; a sentence if all subjects are
    equal.
    """
    errors = [error for guess in facts.guesses for error in guess.miss_include]
    if not errors:
        return None
    heading, sentence = "Two kinds of error", _describe_kind(facts.strongest_first[0])
    if len({error[:2] for error in errors}) < 2:
        return Block("errors", heading, f"{sentence} {_most_frequent(errors)}")
    drawn = [guess for guess, _ in drawn_guesses(facts)[:N_PANELS] if guess.miss_include]
    drawn_errors = [error for guess in drawn for error in guess.miss_include]
    charts = tuple(
        Chart(
            "points", "linkage_errors", "misses", "includes", style="style", size="subjects", text="subjects", log="xy",
            title="Misses and includes" if len(facts.guesses) == 1 else guess.name,
            label=f"Misses against includes. {_most_frequent(guess.miss_include)}", where={"guess": guess.name},
            x_max=max(error[0] for error in drawn_errors), y_max=max(error[1] for error in drawn_errors),
        )
        for guess in drawn
    )  # fmt: skip
    return Block("errors", heading, sentence, charts, notes=(ERROR_NOTE,))


def _describe_kind(guess: GuessFacts) -> str:
    kinds = {
        "conservative": "More own items are missed than items of others are included.",
        "liberal": "More items of others are included than own items are missed.",
    }
    return kinds.get(guess.kind, "As many own items are missed as items of others are included.")


def _most_frequent(errors: list[tuple[int, int, int]] | tuple[tuple[int, int, int], ...]) -> str:
    miss, include, subjects = max(errors, key=lambda error: error[2])
    counts = f"{plural(miss, 'miss', 'misses')} and {plural(include, 'include')}"
    return f"The most subjects, {mark_people(subjects)}, have {counts}."


# --- first screen ----------------------------------------------------------------------------------------------------


def describe_risk(facts: LinkageFacts) -> AtRisk:
    """Return the number of subjects that the strongest guess breaches; for a view, by a single partition if larger."""
    strongest = facts.strongest_first[0]
    single_share = strongest.one_by_one.get("breached", 0.0)
    count = mark_people(round(max(single_share, strongest.breached) * facts.counted))
    fields = {"n": group(facts.counted), "threshold": threshold(facts, "their")}
    if single_share > strongest.breached:
        message = mark("of {n} subjects are breached by one partition, on average: {threshold} in one cluster")
    else:
        message = mark("of {n} subjects are breached: {threshold} in one cluster")
    figure = _("at most {n}", n=count) if strongest.at_least else count
    return AtRisk(figure, _(message, **fields), tuple(_risk_facts(strongest)))


def _risk_facts(strongest: GuessFacts) -> Iterator[Fact]:
    if strongest.one_by_one:
        share = percent(strongest.breached)
        yield Fact(_("All partitions"), _("{share}, by the share of items that they link on average", share=share))
        share = percent(strongest.one_by_one["clean"])
        yield Fact(_("Clean"), _("{share} by one partition: no items of others", share=share))
    else:
        yield Fact(_("Clean"), _("{share}: no items of others", share=share_of(strongest, "clean")))
    if not math.isnan(strongest.recovered):
        share = percent(strongest.recovered)
        yield Fact(_("Complete"), _("{share}: all their items and no others", share=share))
    if not math.isnan(strongest.one_away) and not strongest.one_by_one:  # of a view it is of all partitions together
        yield Fact(_("One merge away"), _("{share} more subjects", share=percent(strongest.one_away)))


ADVICE = Advice(RENAME, '[[protections]]\nuse = "linkage.PerPeriod"\ngrid = { length = [0.25, 0.5] }')
"""Advice to run a study, because an audit of clusters cannot apply a protection."""
