"""Audits of linkage: all guesses of adversaries, evaluated with the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Final

from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.core.partition import Missing, Partition, Unlabeled, View
from unmask.core.signatures import with_parameters
from unmask.data.writing import escape_formula, format_csv
from unmask.languages import gettext as _
from unmask.linkage.audit.blocks import ADVICE, describe_risk, make_blocks
from unmask.linkage.audit.facts import BASELINES, LinkageFacts, Sensitivity
from unmask.linkage.audit.judged_guess import BETAS, JudgedGuess, compare_guesses
from unmask.linkage.audit.partition_scores import MAX_VIEW_PARTITIONS, check_measures
from unmask.linkage.audit.sentences import findings, giant_clusters, single_partitions, threshold
from unmask.linkage.audit.tables import make_tables
from unmask.linkage.link_files import LinkThreshold
from unmask.measures.clustering import Contingency
from unmask.measures.clustering.contingency import OWN
from unmask.policy.coverage import coverage_notes
from unmask.ranges import MeasureNames
from unmask.results import Result, Row


@with_parameters(Sensitivity)
def audit(
    release: Partition | View | Mapping[str, Partition | View],
    *,
    truth: Partition | None = None,
    own: Mapping[str, ArrayLike] | None = None,
    overrides: Sequence[tuple[Any, Any, float]] = (),
    measures: MeasureNames = (),
    **sensitivity: Any,
) -> Result:
    """Evaluate clusters of items: how many subjects are breached, and how many nearly.

    Parameters
    ----------
    release : Partition, View or mapping of these
        Clusters of the items according to adversaries.
    truth : Partition
        Subjects of the items.
    own : mapping of arrays, optional
        Weights of items and values of subjects, see `compare_guesses`.
    overrides : sequence of (subject, item, weight), optional
        Weights that apply to one subject only.
    measures : sequence of str
        Further measures, see `partition_scores`.
    **sensitivity
        Fields of `Sensitivity`.

    Returns
    -------
    Result
        Rows, tables and findings.
    """
    guesses = dict(release) if isinstance(release, Mapping) else {"release": release}
    if truth is None or not all(isinstance(guess, Partition | View) for guess in guesses.values()):
        raise UnmaskError("clusters are compared with the subjects of the items; give them as truth, a Partition")
    settings = Sensitivity(**sensitivity)
    contingencies = compare_guesses(truth, guesses, settings, own, overrides)
    return audit_contingencies(contingencies, settings, measures=measures)


def audit_contingencies(
    guesses: Mapping[str, Contingency],
    sensitivity: Sensitivity,
    thresholds: Mapping[str, LinkThreshold] | None = None,
    measures: Sequence[str] = (),
    subjects: MutableMapping[str, str] | None = None,
) -> Result:
    """Compare each guess with the truth, subject by subject, and with random guesses of the same cluster sizes.

    Parameters
    ----------
    guesses : mapping of Contingency
        Contingency tables of the same subjects, see `compare_guesses`. No label and no item is shown, and the row order
        of files has no effect.
    sensitivity : Sensitivity
        Definition of a breach.
    thresholds : mapping of LinkThreshold, optional
        Accepted links, for guesses that consist of scored links.
    measures : sequence of str
        Further measures, see `partition_scores`.
    subjects : mapping, optional
        Receives the list of subjects and their curves, see `list_subjects`.
    """
    if not guesses:
        raise UnmaskError("0 guesses were given, expected at least 1 partition to evaluate")
    requested = check_measures(measures)
    judged_guesses = [
        JudgedGuess(name, contingency, sensitivity, (thresholds or {}).get(name), requested)
        for name, contingency in guesses.items()
    ]
    if subjects is not None:
        list_subjects(judged_guesses, subjects)
    rows = tuple(row for guess in judged_guesses for row in guess.rows())
    return describe(_measure(judged_guesses, sensitivity), rows, _list_not_run(judged_guesses, sensitivity, rows))


def _measure(guesses: Sequence[JudgedGuess], sensitivity: Sensitivity) -> LinkageFacts:
    contingency = guesses[0].contingency
    return LinkageFacts(
        **vars(sensitivity),
        items=int(contingency.tables[0].subject_size.sum()),
        subjects=len(contingency.subjects),
        counted=int(guesses[0].counted.sum()),
        betas=() if sensitivity.unlabeled == "unknown" else BETAS,
        guesses=tuple(guess.facts() for guess in guesses),
        own=(
            *(("weight",) if contingency.items is not None else ()),
            *(name for name in OWN if name in contingency.own),
        ),
    )


def describe(facts: LinkageFacts, rows: tuple[Row, ...], not_run: Iterable[tuple[str, str]] = ()) -> Result:
    """Return the result for facts about guesses: tables, findings and advice."""
    return Result(
        title=_("Linkage by {guesses}", guesses=", ".join(_name_adversaries(facts))),
        kind="Linkage audit",
        command="audit linkage",
        setting=_setting(facts),
        headline=findings(facts)[0],
        rows=rows,
        preferred_measures=(),
        facts=make_tables(facts),
        blocks=make_blocks(facts),
        at_risk=describe_risk(facts),
        advice=ADVICE,
        sample_condition="breached <= 0.1",
        assumptions=_assumptions(facts),
        cautions=(*coverage_notes(rows, noun="items"), *single_partitions(facts), *giant_clusters(facts)),
        not_run=tuple(not_run),
    )


def _name_adversaries(facts: LinkageFacts) -> list[str]:
    """Return the names of the guesses, with one name for all thresholds of a file of links."""
    counts = Counter(guess.links for guess in facts.guesses if guess.links)
    names = dict.fromkeys(guess.links if counts[guess.links] > 1 else guess.name for guess in facts.guesses)
    return [f"{name} at {counts[name]} thresholds" if name in counts else name for name in names]


def _setting(facts: LinkageFacts) -> str:
    subject = "An adversary says" if len(facts.guesses) == 1 else f"{len(facts.guesses)} adversaries say"
    subjects = "1 subject" if facts.subjects == 1 else f"{facts.subjects:,} subjects"
    return f"{subject} which of {facts.items:,} items belong together. They belong to {subjects}."


def _assumptions(facts: LinkageFacts) -> tuple[str, ...]:
    missing, foreign = f"{facts.alpha:g}", f"{1 - facts.alpha:g}"
    if "alpha" in facts.own:
        missing, foreign = "their subject's alpha", "the rest"
    wanted = f"are {'welcome' if facts.wanted else 'unwelcome'} to the subjects"
    if "wanted" in facts.own:
        wanted = "are welcome to some subjects, which the truth names"
    return (
        f"A subject is breached if one cluster holds {threshold(facts)} of the subject.",
        f"Missing items weigh {missing} and foreign ones {foreign}.",
        f"Foreign items {wanted}.",
        f"Rates are over the {facts.counted:,} of {facts.subjects:,} subjects with at least {facts.min_size} items.",
        "A subject with one item is always linked.",
        "Clusters are merged most relevant first, as an adversary does who learns which of them to merge.",
        "Clusters of equal cost are merged in the order of fewer foreign items, then of more own items.",
        "A breach counts as risk slope 1.",
        BASELINES[facts.baseline].drawing,
        *(_IF_MISSING[facts.missing] + _IF_UNLABELED[facts.unlabeled]),
    )


_IF_MISSING: Final[Mapping[Missing, tuple[str, ...]]] = {
    "error": (),
    "singleton": ("An item of the truth that a guess lacks is a singleton in the guess.",),
    "drop": ("Items of the truth that any guess lacks are left out of all of them.",),
}

_IF_UNLABELED: Final[Mapping[Unlabeled, tuple[str, ...]]] = {
    "error": (),
    "foreign": ("The truth has every item of its subjects: any other item of a guess is foreign to all of them.",),
    "unknown": ("An item that the truth lacks may belong to one of its subjects or to others.",),
    "drop": ("Items of a guess that the truth lacks are left out.",),
}


def _list_not_run(
    guesses: Sequence[JudgedGuess], sensitivity: Sensitivity, rows: Sequence[Row]
) -> Iterator[tuple[str, str]]:
    """Yield skipped computations and reasons."""
    views = [guess.name for guess in guesses if len(guess.contingency.tables) > 1]
    if views:
        yield (
            f"Whole-partition scores of {', '.join(views)}",
            "they compare one partition with the truth, and a view has several",
        )
    large = [guess.name for guess in guesses if len(guess.contingency.tables) > MAX_VIEW_PARTITIONS]
    if large:
        reason = f"a view of more than {MAX_VIEW_PARTITIONS} partitions has too many pairs to compare"
        yield f"consistency of {', '.join(large)}", reason
    if sensitivity.unlabeled == "unknown":
        yield (
            "Misses, includes, merges and risk slopes",
            "they depend on the whole order of merges, which unknown items leave open; foreign or drop decides it",
        )
    uncounted = {guess.name for guess in guesses} - {row.adversary for row in rows if row.measure == "foreign_subjects"}
    if uncounted:
        yield (
            f"Subjects that the foreign items of {', '.join(sorted(uncounted))} come from",
            "the truth lacks some of these items, so their owners are unknown; drop leaves them out",
        )


COLUMNS = (
    "guess",
    "subject",
    "size",
    "miss",
    "include",
    "combined_error",
    "normalized_error",
    "linked_now",
    "mixed_now",
    "merges",
    "risk_slope",
    "breached",
)

CURVES = "-curves"
"""Suffix of the file of curves."""


def list_subjects(guesses: Sequence[JudgedGuess], texts: MutableMapping[str, str]) -> None:
    """Add the list of subjects and their curves as CSV texts.

    Parameters
    ----------
    guesses : sequence of JudgedGuess
        Guesses with items in memory, so subjects have labels.
    texts : mapping
        Suffix of a file -> its text.
    """
    if any(guess.sensitivity.unlabeled == "unknown" for guess in guesses):
        raise UnmaskError("a list of subjects needs decided items; choose `unlabeled` foreign or drop")
    texts[""] = format_csv(COLUMNS, (row for guess in guesses for row in _describe_subjects(guess)))
    heading = ("guess", "subject", "merges", "linked", "mixed")
    texts[CURVES] = format_csv(heading, (row for guess in guesses for row in _trace_curves(guess)))


def _describe_subjects(guess: JudgedGuess) -> Iterator[Sequence[object]]:
    """Yield the values of each subject in column order."""
    measured = guess.unlinkability
    start = measured.steps.start
    values = zip(
        measured.size.tolist(),
        measured.miss.tolist(),
        measured.include.tolist(),
        *(errors.tolist() for errors in measured.errors.values()),
        measured.linked_now.tolist(),
        measured.steps.mixed[start].tolist(),
        measured.merges.tolist(),
        measured.risk_slope.tolist(),
        measured.breached.astype(int).tolist(),
        strict=True,
    )
    for subject, row in zip(_label_subjects(guess), values, strict=True):
        yield (escape_formula(guess.name), subject, *map(_format_value, row))


def _trace_curves(guess: JudgedGuess) -> Iterator[Sequence[object]]:
    """Yield the linked and mixed shares of each subject after each merge."""
    steps, labels = guess.unlinkability.steps, _label_subjects(guess)
    points = (steps.subject.tolist(), steps.rank.tolist(), steps.linked.tolist(), steps.mixed.tolist())
    for subject, merges, linked, mixed in zip(*points, strict=True):
        yield escape_formula(guess.name), labels[subject], merges, _format_value(linked), _format_value(mixed)


def _label_subjects(guess: JudgedGuess) -> list[str]:
    return [escape_formula(str(label)) for label in guess.contingency.subjects.tolist()]


def _format_value(value: float) -> str:
    return f"{value:.12g}"
