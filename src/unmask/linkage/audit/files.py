"""Linkage audits of files."""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from unmask.core.errors import UnmaskError
from unmask.core.signatures import with_parameters
from unmask.data.engine import EngineOptions
from unmask.domains import name_files
from unmask.linkage.audit.facts import Sensitivity
from unmask.linkage.audit.judged_guess import compare_guesses
from unmask.linkage.audit.linkage_audit import audit_contingencies
from unmask.linkage.counting import count_contingencies, estimate_work
from unmask.linkage.label_files import LabelFile, LinkageFiles
from unmask.linkage.link_files import LinkThreshold, parse_thresholds
from unmask.measures.clustering import Contingency
from unmask.ranges import MeasureNames, Option
from unmask.results import Result

_log = logging.getLogger(__name__)


@with_parameters(Sensitivity, EngineOptions)
def audit_files(
    *,
    truth: Annotated[str, Option("Input", source=True)],
    guesses: Annotated[Sequence[str], Option("Input", "--guess", source=True)],
    item: Annotated[str, Option("Input")] = "item",
    subject: Annotated[str, Option("Input")] = "subject",
    clusters: Annotated[Sequence[str], Option("Input", "--cluster", metavar="NAME")] = ("cluster",),
    probability: Annotated[str, Option("Input")] = "probability",
    thresholds: Annotated[Sequence[str], Option("Input", "--threshold", metavar="SCORE,...")] = (),
    noise: Annotated[str | int | None, Option("Input", metavar="LABEL")] = None,
    own: Annotated[Mapping[str, str] | None, Option("Knowledge", metavar="NAME=COLUMN|FILE")] = None,
    measures: MeasureNames = (),
    encoding: Annotated[str | None, Option("Input")] = None,
    engine: str | None = None,
    memory_limit: str | None = None,
    temp_directory: Path | None = None,
    dry_run: bool = False,
    subjects: MutableMapping[str, str] | None = None,
    **sensitivity: Any,
) -> Result | None:
    r"""Evaluate clusters of items: how many subjects are breached, and how many nearly.

    A guess with a probability column is a view: its rows with one probability, or of one value in a column `partition`,
    are one partition. A guess of links has item_l, item_r and a score: each threshold of the score is an adversary.
    With --engine only counts of items are taken into memory, and a guess is neither a view nor links.

    \b
    unmask audit linkage --truth truth.csv --guess guess.csv --beta 0.8 --report out.html
    unmask audit linkage --truth truth.csv --guess a.csv --guess b.csv --item record --subject person --json
    unmask audit linkage --truth wide.parquet --subject true --guess wide.parquet --cluster 'pred_*' \
        --missing drop --unlabeled foreign
    unmask audit linkage --truth truth.csv --guess links.csv --threshold 0.8,0.9,0.99
    unmask audit linkage --truth 'truth/*.parquet' --guess 'guess/*.parquet' --engine duckdb --memory-limit 8GiB

    Parameters
    ----------
    truth : str
        table of items and their subjects
    guesses : sequence of str
        table of items and the clusters an adversary puts them in, or of links: item_l, item_r and a score (also
        unique_id_l, unique_id_r, match_probability). Repeatable for further adversaries
    item : str
        column of the item's id, in every file
    subject : str
        column of the subject, in the truth
    clusters : sequence of str
        column of the cluster in a guess (repeatable, or a pattern such as 'pred_*': each column is a guess)
    probability : str
        column that makes a guess a view
    thresholds : sequence of str
        thresholds of the scores of links, such as 0.8,0.9 (default: 20 quantiles of the scores)
    noise : str or int, optional
        label of items in no cluster, such as -1: each is alone (empty for none)
    own : mapping of str, optional
        column of the truth with the weight of each item, or the alpha, beta or wanted of each subject, in place of one
        value for all, such as weight=w, given again for each. Or weight=FILE, a line subject,item,weight for each
        weight of a single subject
    measures : sequence of str
        further measures, such as normalized_error or adjusted_rand_index. A policy that names one takes it, too
    encoding : str, optional
        encoding of a text file that is not UTF-8 (default: recognized, with a note)
    engine, memory_limit, temp_directory, dry_run
        See `EngineOptions`.
    subjects : mapping, optional
        gets the list of all subjects as CSV, and their curves, for the owner alone. See `list_subjects`
    **sensitivity
        Fields of `Sensitivity`.

    Returns
    -------
    Result or None
        None after a dry run.
    """
    settings = Sensitivity(**sensitivity)
    options = EngineOptions(engine, memory_limit, temp_directory, dry_run)
    if engine is not None and (own or subjects is not None):
        name = "`own`" if own else "a list of subjects"
        raise UnmaskError(f"{name} needs the items in memory; remove `engine`")
    columns = (item, subject, clusters, probability)
    names = name_files(tuple(map(Path, guesses)))
    label = None if noise is None else str(noise)
    accepted = parse_thresholds(thresholds) if thresholds else ()
    files = LinkageFiles(truth, guesses, names, *columns, settings.missing, settings.unlabeled, label, accepted)
    counted = _count(options, files, settings, own or {}, encoding, labels_needed=subjects is not None)
    return None if counted is None else audit_contingencies(counted[0], settings, counted[1], measures, subjects)


def _count(
    options: EngineOptions,
    files: LinkageFiles,
    settings: Sensitivity,
    columns: Mapping[str, str],
    encoding: str | None,
    *,
    labels_needed: bool,
) -> tuple[dict[str, Contingency], dict[str, LinkThreshold]] | None:
    """Count the items that truth and guesses have in common; None after a dry run. Return thresholds of scored links.

    Links, views, and items with weights or parameters are read into memory.
    """
    with options.open(encoding=encoding) as engine:
        truth, guesses = files.locate(engine)
        labels = {name: guess for name, guess in guesses.items() if isinstance(guess, LabelFile)}
        view = next((guess for guess in labels.values() if guess.further), None)
        has_links = len(labels) < len(guesses)
        if options.engine is None and (columns or view or has_links or labels_needed):
            _note(engine.notes)
            data = files.read(engine, columns)
            compared = compare_guesses(data.truth, data.guesses, settings, data.values, data.overrides)
            return compared, data.thresholds
        if has_links:
            raise UnmaskError("links need the items in memory; remove `engine`")
        if view is not None:
            raise UnmaskError(
                f"{view.name} has a column {files.probability!r}: a view needs the items in memory; remove "
                "`engine`, or name another column (`probability`)"
            )
        treatment: dict[str, Any] = {"missing": files.missing, "unlabeled": files.unlabeled}
        if options.engine is not None:
            limits: dict[str, Any] = {"shares": options.memory, "temp_directory": options.temp_directory}
            _log.warning("%s", estimate_work(engine, truth, labels, **limits, **treatment))
        _note(engine.notes)
        if options.dry_run:
            return None
        return count_contingencies(engine, truth, labels, array_bytes=options.memory[1], **treatment), {}


def _note(notes: Sequence[str]) -> None:
    for note in notes:
        _log.warning("note: %s", note)
