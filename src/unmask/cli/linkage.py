"""`unmask audit linkage`: partitions of items against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.documents import DomainCommand
from unmask.cli.engine import engine_options, refuse_without_engine
from unmask.cli.files import name_files, print_notes
from unmask.cli.generated import input_option, options, parse_with
from unmask.cli.options import Input, encoding_option, pairs
from unmask.cli.output import Output, audit_output
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.linkage.audit import Sensitivity
    from unmask.linkage.label_files import LinkageFiles
    from unmask.measures.clustering import Contingency


def _only_document(text: str | None) -> str | None:
    if text is not None and not text.endswith(".toml"):
        raise UnmaskError(f"{Path(text).name!r} is no document such as unmask.toml; name tables by --truth and --guess")
    return text


@click.command("audit linkage", cls=DomainCommand)
@click.argument("document", required=False, expose_value=False, callback=parse_with(_only_document))
@input_option("--truth", required=True, metavar="PATH", type=Input(), help="Table of items and their subjects.")
@input_option(
    "--guess", "guesses", multiple=True, required=True, metavar="PATH", type=Input(),
    help="Table of items and the clusters an adversary puts them in; given again for another adversary.",
)  # fmt: skip
@encoding_option
@input_option("--item", default="item", show_default=True, help="Column of the item's id, in every file.")
@input_option("--subject", default="subject", show_default=True, help="Column of the subject, in the truth.")
@input_option(
    "--cluster", "clusters", multiple=True, default=["cluster"], show_default=True, metavar="NAME",
    help="Column of the cluster, in a guess; given again, or a pattern such as 'pred_*', each column is a guess.",
)  # fmt: skip
@input_option("--probability", default="probability", show_default=True, help="Column that makes a guess a view.")
@input_option("--noise", metavar="LABEL", help="Label of items in no cluster, such as -1: each is alone. Empty: none.")
@options(
    "unmask.linkage.audit:Sensitivity",
    alpha={}, beta={}, wanted={"flags": ("--contamination-wanted",)}, min_size={}, missing={}, unlabeled={},
    truth_sampled={}, shuffles={}, seed={},
)  # fmt: skip
@click.option(
    "--own", multiple=True, metavar="NAME=COLUMN", callback=parse_with(pairs),
    help="Column of the truth with the weight of each item, or the alpha, beta or wanted of each subject, in place "
    "of one value for all: weight=w, alpha=a.",
)  # fmt: skip
@engine_options
@audit_output
def audit_linkage(
    truth: str,
    guesses: tuple[str, ...],
    item: str,
    subject: str,
    clusters: tuple[str, ...],
    probability: str,
    own: dict[str, str],
    noise: str | None,
    engine: str | None,
    dry_run: bool,
    encoding: str | None,
    memory_limit: int,
    temp_directory: Path | None,
    output: Output,
    **sensitivity: Any,
) -> None:
    r"""Evaluate which items an adversary links: who is breached, who is one merge away.

    A guess with a probability column is a view: its rows with one probability, or of one value in a column `partition`,
    are one partition. With --engine only counts of items are taken into memory, and a guess is no view.

    \b
    unmask audit linkage --truth truth.csv --guess guess.csv --beta 0.8 --report out.html
    unmask audit linkage --truth truth.csv --guess a.csv --guess b.csv --item record --subject person --json
    unmask audit linkage --truth wide.parquet --subject true --guess wide.parquet --cluster 'pred_*' \
        --missing drop --unlabeled foreign
    unmask audit linkage --truth 'truth/*.parquet' --guess 'guess/*.parquet' --engine duckdb --memory-limit 8GiB
    """
    from unmask.linkage.audit import Sensitivity, audit_contingencies
    from unmask.linkage.label_files import LinkageFiles

    asked = Sensitivity(**sensitivity)
    names = name_files(tuple(map(Path, guesses)))
    columns = (item, subject, clusters, probability)
    files = LinkageFiles(truth, guesses, names, *columns, asked.missing, asked.unlabeled, noise)
    if engine is None:
        refuse_without_engine(dry_run=dry_run, temp_directory=temp_directory)
    elif own:
        raise click.UsageError("--own needs the items in memory; leave --engine out")
    limits: dict[str, Any] = {"memory_limit": memory_limit, "temp_directory": temp_directory, "encoding": encoding}
    contingencies = _count(engine, files, asked, own, dry_run=dry_run, **limits)
    if contingencies is not None:
        output.give(audit_contingencies(contingencies, asked))


def _count(
    choice: str | None,
    files: LinkageFiles,
    asked: Sensitivity,
    own: dict[str, str],
    *,
    memory_limit: int,
    temp_directory: Path | None,
    encoding: str | None,
    dry_run: bool,
) -> dict[str, Contingency] | None:
    """Count the items that truth and guesses share; None after a dry run.

    Items of a view, and items with weights or parameters of their own, are taken into memory.

    choice : the requested engine, which announces its work; None for the one that is always installed
    """
    from unmask.data.engine import open_engine
    from unmask.data.resources import divide_memory
    from unmask.linkage.audit import compare_guesses
    from unmask.linkage.counting import count_contingencies, estimate_work

    shares = divide_memory(memory_limit)
    limits: dict[str, Any] = {"memory_limit": shares[0], "temp_directory": temp_directory, "encoding": encoding}
    with open_engine(choice or "duckdb", **limits) as engine:
        truth, guesses = files.locate(engine)
        view = next((guess for guess in guesses.values() if guess.further), None)
        if choice is None and (own or view):
            print_notes(engine.notes)
            solution, values, partitions = files.read(engine, own)
            return compare_guesses(solution, partitions, asked, values)
        if view is not None:
            raise UnmaskError(
                f"{view.name} has a column {files.probability!r}: a view needs the items in memory; leave --engine "
                "out, or name another column (--probability)"
            )
        treatment: dict[str, Any] = {"missing": files.missing, "unlabeled": files.unlabeled}
        if choice is not None:
            work = estimate_work(engine, truth, guesses, shares=shares, temp_directory=temp_directory, **treatment)
            print_line(work, err=True)
        print_notes(engine.notes)
        return None if dry_run else count_contingencies(engine, truth, guesses, array_bytes=shares[1], **treatment)
