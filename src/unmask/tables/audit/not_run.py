"""Questions that an audit did not run, and the input that each needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.results.formats import percent
from unmask.tables.audit.assumptions import describe_shift
from unmask.tables.audit.attacked_release import LISTED_ONCE
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release
from unmask.tables.audit.release_facts import explain_no_estimate
from unmask.tables.meanings import scale_weights
from unmask.tables.table import Table

NotRun = tuple[str, str]
"""A question, and the reason why it was not asked."""

NEEDS_ORIGIN = mark("needs the origin of the records (--origin)")
NEEDS_ORIGINAL = mark("needs the original table (--original)")
ADDED = mark("What people's own records added")

UNCLEAR = mark(
    "it has {n} rows, and the original {total}; each row was taken for a person. If it is synthetic, add --synthetic; "
    "if people were dropped or cells changed, add --origin"
)

NORMALIZED = mark(
    "the sum of the weights is about the number of rows, and not of a population; give its size (--population), or "
    "weights that are numbers of people"
)

SYNTHETIC = mark("it is synthetic: no released row is a person's")

FOREIGN = mark(
    "by the quasi-identifiers at most {share} of its rows can be people of the original. If it is synthetic, add "
    "--synthetic; if rows are people after all, add --origin"
)


def list_not_run(releases: Sequence[Release], knowledge: AuditorKnowledge) -> Iterator[NotRun]:
    """Yield the questions that were not run, with what they need.

    Parameters
    ----------
    releases : sequence of Release
        Releases, in memory or counted by an engine.
    knowledge : AuditorKnowledge
        Tables that the auditor has.
    """
    original = knowledge.original
    with_rows = [release for release in releases if release.has_rows]
    for release in with_rows if knowledge.population is not None else ():
        if reason := explain_no_estimate(release):
            yield _("Population uniqueness of {release}", release=release.name), reason
    for release in (release for release in with_rows if release.is_foreign):
        label = _("k, prosecutor_average, prosecutor_max and whose record is whose in {release}", release=release.name)
        share = release.own_rows
        yield label, SYNTHETIC if share is None else FOREIGN.format(share=percent(share))
    if original is not None:
        yield from _unclear_rows(with_rows, original)
    if with_rows:
        yield from _missing_tables(knowledge, () if knowledge.synthetic else with_rows)
    if len(with_rows) < len(releases):
        yield from NEED_ROWS
    if knowledge.register is None:
        reason = LISTED_ONCE if knowledge.is_register_unlinked else mark("needs a register (--register)")
        yield mark("Linkage to a register of named people"), reason
    yield from list_differing_control(knowledge)
    for name in dict.fromkeys(knowledge.without):
        yield _("The adversary {name}", name=name), mark("left out on request (--without)")
    all_tables = (*(release.table for release in releases), *(() if original is None else (original,)))
    weights = [table.weight for table in all_tables if table.weight is not None]
    if any(scale_weights(weight, knowledge.population) is None for weight in weights):
        yield mark("Risk by survey weights"), NORMALIZED
    if original is not None and knowledge.control is None and releases[0].table.sensitive:
        yield ADDED, mark("not separated from what holds for everybody: needs a control group (--control, --hold-back)")


def _unclear_rows(releases: Iterable[Release], original: Table) -> Iterator[NotRun]:
    """Yield releases that may be synthetic: each row may be a person's, but there are not as many as in the original.

    With as many rows that differ from the original, nearly all people have a row that may be theirs.
    """
    for release in (release for release in releases if release.origin is None and not release.is_foreign):
        if release.table.n_rows != original.n_rows:
            reason = _(UNCLEAR, n=release.table.n_rows, total=original.n_rows)
            yield _("Whether the rows of {release} are people", release=release.name), reason


def _missing_tables(knowledge: AuditorKnowledge, releases: Iterable[Release]) -> Iterator[NotRun]:
    untraced = ", ".join(release.name for release in releases if release.origin is None)
    if knowledge.original is None:
        yield mark("Realized success"), NEEDS_ORIGINAL
        yield mark("Inference from all rows"), NEEDS_ORIGINAL
        yield mark("The order of the rows"), NEEDS_ORIGINAL
    if untraced:
        yield _("Which generalized cells of {release} other columns restore", release=untraced), NEEDS_ORIGIN
    if untraced and knowledge.original is not None:
        yield _("Realized identity success and utility of {release}", release=untraced), NEEDS_ORIGIN
    if untraced and knowledge.person is not None:
        yield _("Whether columns of {release} say which rows are one person's", release=untraced), NEEDS_ORIGIN
    if knowledge.population is None and knowledge.register is None:
        yield mark("Population uniqueness"), mark("needs a register of the population, or its size (--population)")


def list_differing_control(knowledge: AuditorKnowledge) -> Iterator[NotRun]:
    """Yield that the control group differs too much from the people attacked for any comparison."""
    if knowledge.shift is not None and knowledge.shift.is_different:
        yield ADDED, f"{describe_shift(knowledge.shift)}; draw the control group as the others were drawn"


NEED_ROWS = (
    (mark("Realized success"), mark("needs the original in memory")),
    (mark("Inference from all rows"), mark("needs the original in memory")),
    (mark("The order of the rows"), mark("needs the original in memory")),
    (mark("Whether columns say which rows are one person's"), mark("needs the table in memory")),
    (mark("Sensitive values by kept columns, and what columns reveal"), mark("needs the table in memory")),
    (mark("Who is in the table"), mark("needs the table in memory")),
    (mark("Singling out, and linkability of two parts of a record"), mark("needs the table in memory")),
)
"""Questions about releases that an engine counts, and what they need."""


def group_by_reason(not_run: Iterable[tuple[str, str, str]]) -> Iterator[NotRun]:
    """Yield a line for each adversary and reason; `not_run` has (measure, adversary and target, reason)."""
    measures: dict[tuple[str, str], dict[str, None]] = {}
    for measure, attack, reason in not_run:
        measures.setdefault((attack, reason), {})[measure] = None
    for (attack, reason), names in measures.items():
        yield f"{', '.join(names)} ({attack})", reason
