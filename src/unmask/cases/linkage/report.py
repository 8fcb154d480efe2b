"""The audit of linkage: every guess against the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from unmask.cases.linkage.case import BETAS, Case, Sensitivity
from unmask.core.errors import UnmaskError
from unmask.core.partition import Missing, Unlabeled
from unmask.measures.clustering import Contingency
from unmask.measures.clustering.contingency import OWN
from unmask.policy.coverage import coverage_notes
from unmask.reports import ReportData
from unmask.reports.facts.linkage import Linkage
from unmask.reports.words import percent
from unmask.results import Row


def report(
    guesses: Mapping[str, Contingency],
    asked: Sensitivity,
) -> ReportData:
    """Every guess against the truth, subject by subject, and beside it what guesses of the same shape would link.

    guesses : all about the same subjects, see `met_by`. Subjects and clusters appear by their place; no label and no
              item is shown, and the order of the rows of a file does not matter.
    """
    if not guesses:
        raise UnmaskError("0 guesses were given, expected at least 1 partition to evaluate")
    cases = [Case(name, met, asked) for name, met in guesses.items()]
    rows = tuple(row for case in cases for row in case.rows())
    met, counted = cases[0].met, int(cases[0].counted.sum())
    items, subjects = int(met.tables[0].subject_size.sum()), len(met.subjects)
    linkage = Linkage(
        items=items,
        subjects=subjects,
        counted=counted,
        min_size=asked.min_size,
        alpha=asked.alpha,
        beta=asked.beta,
        wanted=asked.wanted,
        betas=() if asked.unlabeled == "unknown" else BETAS,
        guesses=tuple(case.shown() for case in cases),
        unlabeled=asked.unlabeled,
        own=(*(("weight",) if met.items is not None else ()), *(name for name in OWN if name in met.own)),
    )
    return ReportData(
        title=f"Linkage by {', '.join(guesses)}",
        who=_who(len(cases), items, subjects),
        rows=rows,
        assumptions=_assumptions(asked, counted, subjects),
        not_run=tuple(_not_run(cases, asked, rows)),
        success=(),
        subjects=(linkage,),
        cautions=(
            *coverage_notes(rows, noun="items"),
            *_cautions(linkage),
        ),
    )


def _cautions(linkage: Linkage) -> Iterator[str]:
    """Of a view one partition of which breaches more than all of them together, by what they link on average."""
    for guess in linkage.guesses:
        alone = guess.one_by_one.get("breached", 0.0)
        if alone > guess.breached:
            each, together = percent(alone), percent(guess.breached)
            act = f"An adversary may act on one partition of {guess.name}"
            yield f"{act}: each alone breaches {each} on average, all together {together}."


def _who(guesses: int, items: int, subjects: int) -> str:
    whose = "An adversary says" if guesses == 1 else f"{guesses} adversaries say"
    owners = "1 subject" if subjects == 1 else f"{subjects:,} subjects"
    return f"{whose} which of {items:,} items belong together; in truth they belong to {owners}."


def _assumptions(asked: Sensitivity, counted: int, subjects: int) -> tuple[str, ...]:
    wanted = "welcome" if asked.wanted else "unwelcome"
    return (
        f"A subject is breached when {asked.beta:.0%} of its items are in one cluster.",
        f"Missing items weigh {asked.alpha:g} and foreign ones {1 - asked.alpha:g}.",
        f"Foreign items are {wanted} to the subjects.",
        f"Rates are over the {counted:,} of {subjects:,} subjects with at least {asked.min_size} items.",
        "A subject with one item is always linked.",
        "Clusters are merged most relevant first: what an adversary does who learns which of them to merge.",
        "Guessing is the same adversary with the labels of their clusters shuffled over the items.",
        *(_IF_MISSING[asked.missing] + _IF_UNLABELED[asked.unlabeled]),
    )


_IF_MISSING: Final[Mapping[Missing, tuple[str, ...]]] = {
    "error": (),
    "singleton": ("An item of the truth that a guess lacks is a cluster of its own there.",),
    "drop": ("Items of the truth that any guess lacks are left out of all of them.",),
}

_IF_UNLABELED: Final[Mapping[Unlabeled, tuple[str, ...]]] = {
    "error": (),
    "foreign": ("The truth has every item of its subjects: any other item of a guess is foreign to all of them.",),
    "unknown": ("An item that the truth lacks may belong to one of its subjects or to somebody else.",),
    "drop": ("Items of a guess that the truth lacks are left out.",),
}


def _not_run(cases: Sequence[Case], asked: Sensitivity, rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    views = [case.name for case in cases if len(case.met.tables) > 1]
    if views:
        yield (
            f"Whole-partition scores of {', '.join(views)}",
            "they compare one partition with the truth, and a view has several",
        )
    if asked.unlabeled == "unknown":
        yield (
            "Misses, includes, merges and risk slopes",
            "they depend on the whole order of merges, which unknown items leave open; foreign or drop decides it",
        )
    nameless = {case.name for case in cases} - {row.adversary for row in rows if row.measure == "foreign_subjects"}
    if nameless:
        yield (
            f"Subjects that the foreign items of {', '.join(sorted(nameless))} come from",
            "the truth lacks some of these items, so nobody knows whose they are; drop leaves them out",
        )
