"""Contingency tables of subjects and clusters, counted by a database engine for items that may exceed memory.

The measures of unlinkability need only the number of items that each subject and each cluster have in common. The
engine joins the files by item id and counts; only the counts are read into memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Missing, Unlabeled, check_differences, check_labels
from unmask.data.engine import Engine
from unmask.data.resources import check_disk, format_bytes
from unmask.data.sql import Kind
from unmask.linkage.label_files import LabelFile
from unmask.measures.clustering import Contingency
from unmask.measures.clustering.contingency import DRAWN_ITEMS
from unmask.measures.clustering.overlap import sum_cells, weigh_equally

PAIR_BYTES = 220
"""Memory for each pair of a subject and a cluster with common items, in the measure that needs most."""

SUBJECT_BYTES, CLUSTER_BYTES = 400, 60
"""Memory for each subject and each cluster, in the measure that needs most."""

DRAW_BYTES = 160
"""Memory for each item in a random guess."""

ITEM_BYTES = 64
"""Memory of the engine for each item: id, codes and hash table."""


def estimate_work(
    engine: Engine,
    truth: LabelFile,
    guesses: Mapping[str, LabelFile],
    *,
    shares: tuple[int, int],
    missing: Missing = "error",
    unlabeled: Unlabeled = "error",
    temp_directory: str | PathLike[str] | None = None,
) -> str:
    """Return a sentence on the memory and disk that a linkage audit needs, from one pass over each file.

    Raise if the memory is insufficient, or if labels are missing. The engine's estimate of the number of labels is
    accurate to a few per cent. The number of pairs is known only after the join. It is at least the larger of the
    numbers of subjects and clusters, and at most the number of items. This function raises if the lower bound exceeds
    the memory; `count_contingencies` checks the actual number.

    shares : bytes for the engine and for arrays, see `divide_memory`
    """
    estimates = {
        name: _estimate(engine, number, file, missing, unlabeled)
        for number, (name, file) in enumerate({"": truth, **guesses}.items())
    }
    items, subjects = estimates.pop("")
    clusters = {name: n for name, (_, n) in estimates.items()}
    max_clusters = max(clusters.values())
    min_pairs = max(subjects, max_clusters)
    max_pairs = min(max(items, min_pairs), max(subjects * max_clusters, min_pairs))
    min_bytes, max_bytes = (_count_bytes(n, subjects, max_clusters, items) for n in (min_pairs, max_pairs))
    _check_fits(min_bytes, shares[1], f"about {subjects:,} subjects and {max_clusters:,} clusters")
    rows = items + sum(n for n, _ in estimates.values())
    disk_bytes = max(rows * ITEM_BYTES - shares[0], 0)
    check_disk(disk_bytes, temp_directory)
    sizes = ", ".join(f"{name} about {n:,} clusters" for name, n in clusters.items())
    return (
        f"linkage of {items:,} items of about {subjects:,} subjects; {sizes}; {min_pairs:,} to {max_pairs:,} pairs "
        f"in memory, {format_bytes(min_bytes)} to {format_bytes(max_bytes)} of the {format_bytes(shares[1])} "
        f"for arrays; {format_bytes(shares[0])} for the engine, up to {format_bytes(disk_bytes)} of disk"
    )


def count_contingencies(
    engine: Engine,
    truth: LabelFile,
    guesses: Mapping[str, LabelFile],
    *,
    missing: Missing = "error",
    unlabeled: Unlabeled = "error",
    array_bytes: int,
) -> dict[str, Contingency]:
    r"""Return the contingency table of each guess and the truth.

    missing, unlabeled : treatment of items that are in one file only, see `unmask.core.partition`; rows without a label
        are ignored. With missing "drop", an item that a guess lacks is dropped from all guesses.
    array_bytes : memory limit of the arrays, checked before they are read

    >>> import tempfile, pathlib
    >>> from unmask.data.engine import open_engine
    >>> with tempfile.TemporaryDirectory() as folder, open_engine("duckdb") as engine:
    ...     owners, linked = pathlib.Path(folder) / "truth.csv", pathlib.Path(folder) / "guess.csv"
    ...     _ = owners.write_text("item,subject\na,ann\nb,ann\nc,bob\n")
    ...     _ = linked.write_text("item,cluster\nc,q\na,p\nb,q\n")
    ...     files = LabelFile(str(owners), "item", "subject"), {"guess": LabelFile(str(linked), "item", "cluster")}
    ...     table = count_contingencies(engine, *files, array_bytes=1 << 30)["guess"].tables[0]
    >>> table.subject, table.cluster, table.shared
    (array([0, 0, 1], dtype=int32), array([0, 1, 1], dtype=int32), array([1, 1, 1]))
    """
    files = (truth, *guesses.values())
    _check_ids(files, [file.load(engine, f"f{number}") for number, file in enumerate(files)])
    n_rows, labeled = [], []
    for number, file in enumerate(files):
        n_labeled, n_gaps = file.count_rows(engine, f"f{number}", missing, unlabeled, is_truth=number == 0)
        n_rows.append(n_labeled)
        # DuckDB reads a tested column twice, so only files with gaps are filtered
        labeled.append(f"(select item, label from f{number} where label is not null)" if n_gaps else f"f{number}")
    engine.keep("joined", _join_files(labeled, sum(n_rows)))
    _check_unique_ids(engine, files, n_rows)
    n_labels = [_code_labels(engine, number, file) for number, file in enumerate(files)]
    engine.keep("coded", _code_items(len(files)))
    engine.drop("joined")
    n_items = _check_coverage(engine, list(guesses), missing, unlabeled)
    complete = "" if missing != "drop" else "".join(f" and c{i} is not null" for i in range(1, len(files)))
    return {
        name: replace(_contingency(engine, i, complete, n_labels, array_bytes, unlabeled), n_items=n_items[i - 1])
        for i, name in enumerate(guesses, 1)
    }


# --- one file: table f0 (item, label) is the truth, f1, f2, ... are the guesses ---


def _estimate(engine: Engine, number: int, file: LabelFile, missing: Missing, unlabeled: Unlabeled) -> tuple[int, int]:
    """Count the labeled rows of a file, and estimate its number of labels."""
    file.scan(engine, f"f{number}")
    counts = "count(label) as n, count(*) - count(label) as gaps, approx_count_distinct(label) as labels"
    n_labeled, n_gaps, n_labels = (int(n[0]) for n in engine.rows(f"select {counts} from f{number}").values())
    check_labels(file.name, n_gaps, truth=number == 0, missing=missing, unlabeled=unlabeled)
    return n_labeled, n_labels


def _check_ids(files: Sequence[LabelFile], kinds: Sequence[Kind]) -> None:
    """Raise if item ids are texts in one file and numbers in another."""
    is_text = [kind in ("text", "untyped") for kind in kinds]
    for file, text in zip(files, is_text, strict=True):
        if text != is_text[0]:
            texts = file.name if text else files[0].name
            raise UnmaskError(
                f"the item ids of {texts} are texts and those of another file are numbers, so none of them agree; "
                "store both in the same type"
            )


# --- all files ---


def _join_files(labeled: Sequence[str], n_rows: int) -> str:
    """Return SQL that counts items n by their labels l0, l1, ... in all files; NULL if a file lacks them.

    i0, i1, ... count the rows of each file that have an id. The query has one join and no table with a row for each
    item, because labels repeat and ids are not needed again. Repeated ids would multiply rows, so the join stops after
    one row more than all files have.

    labeled : SQL of the rows of each file with a label; n_rows : their total number
    """
    numbers = range(len(labeled))
    joins = f"{labeled[0]} t0"
    for i in numbers[1:]:
        items = ", ".join(f"t{j}.item" for j in range(i))
        joins += f" full join {labeled[i]} t{i} on {f'coalesce({items})' if i > 1 else items} = t{i}.item"
    columns = ", ".join(f"t{i}.label as l{i}, t{i}.item as i{i}" for i in numbers)
    labels = ", ".join(f"l{i}" for i in numbers)
    counts = ", ".join(f"count(i{i}) as i{i}" for i in numbers)
    rows = f"(select {columns} from {joins} limit {n_rows + 1}) met"
    return f"select {labels}, count(*) as n, {counts} from {rows} group by {labels}"


def _check_unique_ids(engine: Engine, files: Sequence[LabelFile], n_rows: Sequence[int]) -> None:
    """Raise for a row without an id, and for an id that a file has twice. n_rows : rows with a label, for each file

    If a file repeats an id that other files have, the join has more rows than one of them. This also holds if the join
    stopped early. If ids occur in one file only, they are counted in this file.
    """
    numbers = range(len(n_rows))
    sums = [f"cast(coalesce(sum(case when l{i} is not null then n end), 0) as bigint) as n{i}" for i in numbers]
    sums += [f"cast(coalesce(sum(i{i}), 0) as bigint) as i{i}" for i in numbers]
    n_files = " + ".join(f"case when l{i} is null then 0 else 1 end" for i in numbers)
    sums += [f"count(case when {n_files} = 1 then l{i} end) as single{i}" for i in numbers]
    joined = {name: int(value[0]) for name, value in engine.rows(f"select {', '.join(sums)} from joined").items()}
    if any(joined[f"i{i}"] < joined[f"n{i}"] for i in numbers):
        raise UnmaskError("an item id is missing in a file, expected a value for every item")

    def count(ids: str) -> int:
        return int(engine.rows(f"select count(*) as n from ({ids}) ids")["n"][0])

    def is_short(i: int) -> bool:
        return count(f"select distinct item from f{i} where label is not null") < n_rows[i]

    singles = [i for i in numbers if joined[f"single{i}"]]
    if any(joined[f"n{i}"] > n_rows[i] for i in numbers) or any(map(is_short, singles)):
        repeated = "select item from f{} where label is not null group by item having count(*) > 1"
        name, n = next((file.name, n) for i, file in enumerate(files) if (n := count(repeated.format(i))))
        ids = "an item id occurs" if n == 1 else f"{n:,} item ids occur"
        raise UnmaskError(f"{name}: {ids} twice or more, expected each item in exactly one cluster; remove repetitions")


def _code_labels(engine: Engine, number: int, file: LabelFile) -> int:
    """Create the table d{number} (label, code) with the labels of a file numbered in order; return their number.

    Raise for a label that may denote items without a cluster.
    """
    labels = f"select distinct l{number} as label from joined where l{number} is not null"
    code = "cast(row_number() over (order by label) - 1 as integer) as code"
    n = engine.keep(f"d{number}", f"select label, {code} from ({labels}) labels")
    if n == 0:
        raise UnmaskError(f"file {file.name!r} has no rows, expected at least 1 with a value of {file.label!r}")
    file.check_noise(engine, f"d{number}")
    return n


def _code_items(n_files: int) -> str:
    """Return SQL that counts items n by the codes c0, c1, ... of their labels in all files; NULL if a file lacks
    them.
    """
    codes = ", ".join(f"d{i}.code as c{i}" for i in range(n_files))
    joins = " ".join(f"left join d{i} on joined.l{i} = d{i}.label" for i in range(n_files))
    return f"select {codes}, n from joined {joins}"


def _check_coverage(engine: Engine, guesses: Sequence[str], missing: Missing, unlabeled: Unlabeled) -> list[int]:
    """Raise for items of one file only, like partitions in memory; return the items of each guess or the truth."""
    numbers = range(1, len(guesses) + 1)
    terms = {"c0": "c0"} | {f"c{i}": f"c{i}" for i in numbers}
    terms |= {f"both{i}": f"case when c0 is not null then c{i} end" for i in numbers}
    sums = (f"cast(coalesce(sum(case when {x} is not null then n end), 0) as bigint) as {a}" for a, x in terms.items())
    items = {name: int(value[0]) for name, value in engine.rows(f"select {', '.join(sums)} from coded").items()}
    for i, name in enumerate(guesses, 1):
        shared = items[f"both{i}"]
        guess = f"guess {name}: " if len(guesses) > 1 else ""
        check_differences(shared, items["c0"] - shared, items[f"c{i}"] - shared, missing, unlabeled, guess=guess)
    return [items["c0"] + items[f"c{i}"] - items[f"both{i}"] for i in numbers]


def _contingency(
    engine: Engine, number: int, complete: str, n_labels: Sequence[int], array_bytes: int, unlabeled: Unlabeled
) -> Contingency:
    """Return the contingency table of a guess over the subjects and clusters with items; singletons are last.

    complete : further condition on the counted items of the truth
    """
    items = "cast(sum(n) as bigint) as n"
    n_pairs = engine.keep(
        "pairs", f"select c0, c{number} as c1, {items} from coded where c0 is not null{complete} group by 1, 2"
    )
    pair_bytes = _count_bytes(n_pairs, n_labels[0], n_labels[number], DRAWN_ITEMS)
    _check_fits(pair_bytes, array_bytes, f"{n_pairs:,} pairs of a subject and a cluster")
    pairs = engine.rows("select c0, coalesce(c1, -1) as c1, n from pairs")
    engine.drop("pairs")
    if not len(pairs["n"]):
        raise UnmaskError("no item is left, expected at least 1 that the truth and the guesses have in common")
    subject, cluster, shared = (pairs[name].astype(np.int64) for name in ("c0", "c1", "n"))
    subject, cluster, shared = _add_singletons(subject, cluster, shared, n_labels[number])
    n_clusters = max(int(cluster.max()) + 1, n_labels[number])
    size = np.bincount(cluster, shared, n_clusters).astype(np.int64)
    if unlabeled != "drop":
        foreign = f"select c{number} as c1, {items} from coded where c0 is null and c{number} is not null group by 1"
        strangers = engine.rows(foreign)
        size += np.bincount(strangers["c1"].astype(np.int64), strangers["n"], n_clusters).astype(np.int64)
    subjects, subject = np.unique(subject, return_inverse=True)
    code = np.cumsum(size > 0) - 1
    table = sum_cells(
        subject,
        code[cluster],
        shared,
        subject_size=np.bincount(subject, shared, len(subjects)).astype(np.int64),
        cluster_size=size[size > 0],
    )
    clusters = np.arange(len(table.cluster_size))[None]
    tables, unknown = (weigh_equally(table),), unlabeled == "unknown"
    return Contingency(tables, np.ones(1), table.cluster_size, clusters, subjects, unknown=unknown)


def _add_singletons(
    subject: Integers, cluster: Integers, shared: Integers, n_clusters: int
) -> tuple[Integers, Integers, Integers]:
    """Replace cluster -1 by one cluster for each of its items, numbered by subject."""
    unclustered = np.flatnonzero(cluster < 0)
    unclustered = unclustered[np.argsort(subject[unclustered])]
    clustered, single = cluster >= 0, np.repeat(subject[unclustered], shared[unclustered])
    return (
        np.concatenate([subject[clustered], single]),
        np.concatenate([cluster[clustered], n_clusters + np.arange(len(single))]),
        np.concatenate([shared[clustered], np.ones(len(single), dtype=np.int64)]),
    )


def _count_bytes(pairs: int, subjects: int, clusters: int, items: int) -> int:
    arrays = pairs * PAIR_BYTES + subjects * SUBJECT_BYTES + clusters * CLUSTER_BYTES
    return arrays + min(items, DRAWN_ITEMS) * DRAW_BYTES


def _check_fits(n_bytes: int, array_bytes: int, arrays: str) -> None:
    if n_bytes > array_bytes:
        raise FailedError(
            f"{arrays} need {format_bytes(n_bytes)} of memory, but the arrays have {format_bytes(array_bytes)}; "
            "increase `memory_limit`, or audit a part of the subjects"
        )
