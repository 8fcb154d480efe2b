"""`unmask audit linkage`: partitions of items against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from unmask.cli.files import provenance, say_notes, stems
from unmask.cli.large import engine_options, refuse_without_engine
from unmask.cli.options import Input, encoding_option, share
from unmask.cli.output import Output, audit_output, measures

if TYPE_CHECKING:
    from unmask.measures.unlinkability import Contingency
    from unmask.view import Partition, View

SHARE = click.FloatRange(0, 1)


@click.command("audit linkage")
@click.option("--truth", required=True, metavar="PATH", type=Input(), help="Table of items and their subjects.")
@click.option(
    "--guess", "guesses", multiple=True, required=True, metavar="PATH", type=Input(),
    help="Table of items and the clusters an adversary puts them in; given again for another adversary.",
)  # fmt: skip
@encoding_option
@click.option("--item", default="item", show_default=True, help="Column of the item's id, in every file.")
@click.option("--subject", default="subject", show_default=True, help="Column of the subject, in the truth.")
@click.option("--cluster", default="cluster", show_default=True, help="Column of the cluster, in a guess.")
@click.option("--probability", default="probability", show_default=True, help="Column that makes a guess a view.")
@click.option(
    "--alpha", default=0.5, show_default=True, type=SHARE, callback=share,
    help="Weight of linking; the rest is the weight of mixing in foreign items.",
)  # fmt: skip
@click.option(
    "--beta", default=0.8, show_default=True, type=click.FloatRange(0, 1, min_open=True), callback=share,
    help="Share of a subject's items whose linking is a breach.",
)  # fmt: skip
@click.option("--contamination-wanted", is_flag=True, help="Foreign items are welcome to the subjects.")
@click.option(
    "--min-size", default=2, show_default=True, type=click.IntRange(min=1), help="Items that a counted subject has."
)
@click.option(
    "--missing", type=click.Choice(["error", "singleton"]), default="error", show_default=True,
    help="An item that only one file has: an error, or a cluster of its own.",
)  # fmt: skip
@click.option(
    "--shuffles", default=20, show_default=True, type=click.IntRange(min=1), help="Guesses with shuffled labels."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the shuffles.")
@engine_options
@audit_output
def audit_linkage(
    truth: str,
    guesses: tuple[str, ...],
    encoding: str | None,
    item: str,
    subject: str,
    cluster: str,
    probability: str,
    alpha: float,
    beta: float,
    contamination_wanted: bool,
    min_size: int,
    missing: Literal["error", "singleton"],
    shuffles: int,
    seed: int,
    engine: str | None,
    memory_limit: int,
    temp_directory: Path | None,
    dry_run: bool,
    output: Output,
) -> None:
    r"""Evaluate which items an adversary links: who is breached, who is one merging away.

    A guess with a probability column is a view: its rows with one probability, or of one value in a column `partition`,
    are one partition. With --engine only counts of items are taken into memory, and a guess is no view.

    \b
    unmask audit linkage --truth truth.csv --guess guess.csv --beta 0.8 --report out.html
    unmask audit linkage --truth truth.csv --guess a.csv --guess b.csv --item record --subject person --json
    unmask audit linkage --truth 'truth/*.parquet' --guess 'guess/*.parquet' --engine duckdb --memory-limit 8GiB
    """
    from unmask.studies.linkage import Sensitivity, study_contingencies, study_linkage

    files = [Path(truth), *map(Path, guesses)]
    sources = dict(zip(stems(tuple(files[1:])), guesses, strict=True))
    sensitivity = Sensitivity(
        alpha=alpha,
        beta=beta,
        wanted=contamination_wanted,
        min_size=min_size,
        missing=missing,
        shuffles=shuffles,
        seed=seed,
    )
    said: dict[str, Any] = {"title": f"Linkage by {', '.join(sources)}", "reproduce": provenance()}
    if engine is None:
        refuse_without_engine(dry_run=dry_run, temp_directory=temp_directory)
        solution = _partition(files[0], item, subject, encoding)
        named = {name: _guess(Path(path), item, cluster, probability, encoding) for name, path in sources.items()}
        found = study_linkage(solution, named, sensitivity, **said)
    else:
        counted = _counted(
            engine,
            truth,
            sources,
            (item, subject, cluster, probability),
            missing=missing,
            memory_limit=memory_limit,
            temp_directory=temp_directory,
            encoding=encoding,
            dry_run=dry_run,
        )
        if counted is None:
            return
        found = study_contingencies(counted, sensitivity, **said)
    output.give(found, _json)


def _counted(
    choice: str,
    truth: str,
    guesses: dict[str, str],
    columns: tuple[str, str, str, str],
    *,
    missing: Literal["error", "singleton"],
    memory_limit: int,
    temp_directory: Path | None,
    encoding: str | None,
    dry_run: bool,
) -> dict[str, Contingency] | None:
    """What guesses and truth have in common, counted by an engine that is closed again; None after a dry run."""
    from unmask.engines import open_engine
    from unmask.engines.room import shares
    from unmask.errors import UnmaskError
    from unmask.pseudonyms.large import Labelled, contingencies, plan

    item, subject, cluster, probability = columns
    solution = Labelled(truth, item, subject)
    named = {name: Labelled(path, item, cluster) for name, path in guesses.items()}
    room = shares(memory_limit)
    with open_engine(choice, memory_limit=room[0], temp_directory=temp_directory, encoding=encoding) as engine:
        for guess in named.values():
            if probability in engine.names(guess.source):
                raise UnmaskError(
                    f"{guess.name} has a column {probability!r}: a view needs the items in memory; leave --engine out, "
                    "or name another column (--probability)"
                )
        click.echo(str(plan(engine, solution, named, shares=room, temp_directory=temp_directory)), err=True)
        say_notes(engine.notes)
        if dry_run:
            return None
        return contingencies(engine, solution, named, missing=missing, array_bytes=room[1])


def _json(found: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "linkage": asdict(found.linkage),
        "measures": measures(found),
        "warnings": [f"not run: {what}: {why}" for what, why in found.not_run],
    }


def _partition(path: Path, item: str, label: str, encoding: str | None) -> Partition:
    from unmask.errors import UnmaskError
    from unmask.pseudonyms.reading import read_columns
    from unmask.view import Partition

    columns = read_columns(path, [item, label], encoding=encoding)
    try:
        return Partition(columns[label], columns[item])
    except UnmaskError as error:
        raise UnmaskError(f"{path.name}: {error}") from None


def _guess(path: Path, item: str, cluster: str, probability: str, encoding: str | None) -> Partition | View:
    """A partition; or a view, where there is a column of probabilities."""
    import numpy as np

    from unmask.errors import UnmaskError
    from unmask.pseudonyms.reading import column_names, read_columns
    from unmask.view import Partition, View

    names = column_names(path, encoding=encoding)
    if probability not in names:
        return _partition(path, item, cluster, encoding)
    by = "partition" if "partition" in names else probability
    columns = read_columns(path, list(dict.fromkeys([item, cluster, probability, by])), encoding=encoding)
    try:
        chance = np.asarray(columns[probability], dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{path.name}: a probability is no number, expected numbers above 0 that sum to 1") from None
    if not np.all(np.isfinite(chance)):
        raise UnmaskError(f"{path.name}: a probability is missing, expected numbers above 0 that sum to 1")
    parts, first, part = np.unique(columns[by].astype(str), return_index=True, return_inverse=True)
    if np.any(chance != chance[first][part]):
        raise UnmaskError(f"{path.name}: a partition has several probabilities, expected one for all its rows")
    try:
        return View(
            [Partition(columns[cluster][part == i], columns[item][part == i]) for i in range(len(parts))], chance[first]
        )
    except UnmaskError as error:
        hint = "" if by == "partition" else "; a column `partition` tells partitions of one probability apart"
        raise UnmaskError(f"{path.name}: {error}{hint}") from None
