"""Items that need not fit the memory: an engine counts what subjects and clusters share, the rest is as for any items.

The measures of unlinkability need no more of a truth and a guess than how many items each subject and each cluster have
in common. The engine joins the files by the item's id and counts out of core; only the counts are taken into memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Missing, Unlabeled, refuse_differences, refuse_gaps
from unmask.data.engine import Engine
from unmask.data.resources import check_disk, format_bytes
from unmask.data.source_files import detect_kind
from unmask.data.sql import Kind, literal
from unmask.measures.unlinkability import Contingency
from unmask.measures.unlinkability.contingency import DRAWN_ITEMS
from unmask.measures.unlinkability.overlap import of_cells
from unmask.measures.unlinkability.weighing import counted

_PER_CELL = 220
"""Bytes of one pair of a subject and a cluster with items in common, in the measure that needs most of them."""

_PER_SUBJECT, _PER_CLUSTER = 400, 60
"""Bytes of one subject and of one cluster, likewise."""

_PER_DRAW = 160
"""Bytes of one item that a guess at random hands out."""

_PER_ITEM = 64
"""Bytes of one item's id and its codes in the engine, hash table included."""


@dataclass(frozen=True)
class Labeled:
    """A file of items and their labels: where it is, and the names of the two columns.

    name : of the file in messages
    noise : label of items in no cluster; "" for none, None to ask about a label that may be one
    """

    source: str
    item: str
    label: str
    noise: str | None = ""

    @property
    def name(self) -> str:
        """The file without its folder."""
        return Path(self.source.rpartition("::")[2] if "::" in self.source else self.source).name


NOISE = ("-1", "-1.0", "noise", "outlier", "outliers", "unclustered")
"""Labels that programs give items in no cluster."""


def refuse_noise(name: str, labels: Sequence[str], noise: str | None) -> None:
    """Refuse labels one of which may mean that an item is in no cluster, unless that is answered: a word, or -1 among
    whole numbers from 0.
    """
    found = [label for label in labels if label.lower() in NOISE]
    others = any(not label.replace(".0", "").isdecimal() for label in labels if label not in found)
    if noise is None and found and not (others and found[0].startswith("-1")):
        raise UnmaskError(
            f"{name} has the label {found[0]}, which may mean no cluster: add --noise={found[0]}, so that each of its "
            "items is alone, or --noise= if it is a cluster"
        )


def plan(
    engine: Engine,
    truth: Labeled,
    guesses: Mapping[str, Labeled],
    *,
    shares: tuple[int, int],
    missing: Missing = "error",
    unlabeled: Unlabeled = "error",
    temp_directory: str | PathLike[str] | None = None,
) -> str:
    """What an audit of linkage will take, in words, from one pass over each file.

    What will not fit is refused, and so are labels that are missing.

    shares : bytes of the engine and of the arrays, see `divide_memory`. The engine's estimate of labels is
    a few per cent off. How many pairs of a subject and a cluster share items is known only after the join: at least as
    many as there are subjects or clusters, at most as many as items. What exceeds the memory even at least is refused
    here, the rest by `contingencies` before anything is taken out.
    """
    found = {
        name: _estimated(engine, at, of, missing, unlabeled)
        for at, (name, of) in enumerate({"": truth, **guesses}.items())
    }
    items, subjects = found.pop("")
    clusters = {name: n for name, (_, n) in found.items()}
    widest = max(clusters.values())
    fewest, most = max(subjects, widest), max(items, subjects, widest)
    cells = fewest, min(most, max(subjects * widest, fewest))
    need = _need(cells[0], subjects, widest, items), _need(cells[1], subjects, widest, items)
    _check_fits(need[0], shares[1], f"about {subjects:,} subjects and {widest:,} clusters")
    rows = items + sum(n for n, _ in found.values())
    disk_bytes = max(rows * _PER_ITEM - shares[0], 0)
    check_disk(disk_bytes, temp_directory)
    said = ", ".join(f"{name} about {n:,} clusters" for name, n in clusters.items())
    return (
        f"linkage of {items:,} items of about {subjects:,} subjects; {said}; {cells[0]:,} to {cells[1]:,} pairs taken "
        f"into memory, {format_bytes(need[0])} to {format_bytes(need[1])} of the {format_bytes(shares[1])} for arrays; "
        f"{format_bytes(shares[0])} for the engine, up to {format_bytes(disk_bytes)} of disk"
    )


def contingencies(
    engine: Engine,
    truth: Labeled,
    guesses: Mapping[str, Labeled],
    *,
    missing: Missing = "error",
    unlabeled: Unlabeled = "error",
    array_bytes: int,
) -> dict[str, Contingency]:
    r"""What every guess has in common with the truth, as `Contingency.of` counts the files read into memory.

    missing, unlabeled : what an item is that only one of them has, see `core.partition`; a row without a label is none.
    With missing "drop" an item that any guess lacks is left out of all. array_bytes : more than this is refused before
    it is taken out.

    >>> import tempfile, pathlib
    >>> from unmask.data.engine import open_engine
    >>> with tempfile.TemporaryDirectory() as folder, open_engine("duckdb") as engine:
    ...     owners, linked = pathlib.Path(folder) / "truth.csv", pathlib.Path(folder) / "guess.csv"
    ...     _ = owners.write_text("item,subject\na,ann\nb,ann\nc,bob\n")
    ...     _ = linked.write_text("item,cluster\nc,q\na,p\nb,q\n")
    ...     files = Labeled(str(owners), "item", "subject"), {"guess": Labeled(str(linked), "item", "cluster")}
    ...     table = contingencies(engine, *files, array_bytes=1 << 30)["guess"].tables[0]
    >>> table.subject, table.cluster, table.own
    (array([0, 0, 1], dtype=int32), array([0, 1, 1], dtype=int32), array([1, 1, 1]))
    """
    files = (truth, *guesses.values())
    kinds = [_kept(engine, at, of) for at, of in enumerate(files)]
    _check_ids(files, kinds)
    n_rows, labeled = [], []
    for at, of in enumerate(files):
        found = engine.rows(f"select count(label) as n, count(*) - count(label) as gaps from f{at}")
        n, gaps = int(found["n"][0]), int(found["gaps"][0])
        refuse_gaps(of.name, gaps, truth=at == 0, missing=missing, unlabeled=unlabeled)
        n_rows.append(n)  # a label is read twice where it is also looked at, which only a gap asks for
        labeled.append(f"(select item, label from f{at} where label is not null)" if gaps else f"f{at}")
    engine.keep("joined", _joined(labeled, sum(n_rows)))
    _check_once(engine, files, n_rows)
    n_labels = [_coded(engine, at, of) for at, of in enumerate(files)]
    engine.keep("met", _met(len(files)))
    engine.drop("joined")
    n_items = _check_met(engine, list(guesses), missing, unlabeled)
    everywhere = "" if missing != "drop" else "".join(f" and c{at} is not null" for at in range(1, len(files)))
    return {
        name: replace(_contingency(engine, at, everywhere, n_labels, array_bytes, unlabeled), n_items=n_items[at - 1])
        for at, name in enumerate(guesses, 1)
    }


# --- one file --------------------------------------------------------------------------------------------------


def _taken(engine: Engine, at: int, of: Labeled) -> Kind:
    """File number `at` as table f`at` (item, label); says what kind of ids it has."""
    names = engine.names(of.source)
    unknown = next((name for name in (of.item, of.label) if name not in names), None)
    if unknown is not None:
        raise UnmaskError(f"column {unknown!r} is not in file {of.name!r}; its columns are {', '.join(names)}")
    kinds = engine.table(f"f{at}", of.source, {"item": of.item, "label": of.label}, ids=("item",))
    return kinds["item"]


def _kept(engine: Engine, at: int, of: Labeled) -> Kind:
    """The same with the rows of a text file kept, which is read and trimmed once so; noise is one cluster an item."""
    kind = _taken(engine, at, of)
    text = "cast(label as string)"
    if of.noise:
        apart = f"case when {text} = {literal(of.noise)} then 'noise ' || cast(item as string) else {text} end"
        engine.keep(f"kept{at}", f"select item, {apart} as label from f{at}")
        engine.view(f"f{at}", f"select item, label from kept{at}")
    elif of.noise is None:
        known = f"lower({text}) in {NOISE}"
        doubtful = f"label is not null and ({known} or coalesce(try_cast({text} as double), -2) < 0)"
        found = engine.rows(
            f"select {text} as label from f{at} where {doubtful} group by 1 order by not {known} limit 9"
        )
        refuse_noise(of.name, found["label"].tolist(), of.noise)
    if Path(of.source).is_file() and detect_kind(Path(of.source)) == "text":
        engine.keep(f"kept{at}", f"select item, label from f{at}")
        engine.view(f"f{at}", f"select item, label from kept{at}")
    return kind


def _estimated(engine: Engine, at: int, of: Labeled, missing: Missing, unlabeled: Unlabeled) -> tuple[int, int]:
    """Labeled rows of file number `at`, the truth if 0, and about how many labels it has."""
    _taken(engine, at, of)
    counts = "count(*) as n, count(label) as labeled, approx_count_distinct(label) as labels"
    found = {name: int(value[0]) for name, value in engine.rows(f"select {counts} from f{at}").items()}
    refuse_gaps(of.name, found["n"] - found["labeled"], truth=at == 0, missing=missing, unlabeled=unlabeled)
    return found["labeled"], found["labels"]


def _check_ids(files: Sequence[Labeled], kinds: Sequence[Kind]) -> None:
    """Texts and numbers never meet."""
    for of, kind in zip(files, kinds, strict=True):
        text, first = (one in ("text", "untyped") for one in (kind, kinds[0]))
        if text != first:
            texts = [files[0].name, of.name][text]
            raise UnmaskError(
                f"the item ids of {texts} are texts and those of another file are numbers, so that none of them agree; "
                "store both alike"
            )


# --- all files -------------------------------------------------------------------------------------------------


def _joined(labeled: Sequence[str], n_rows: int) -> str:
    """Items n by their labels l0, l1, ... in every file, NULL where they are not in one; and rows i0, i1, ... of every
    file that have an id. labeled : the rows of each file that have a label, n_rows in all.

    One join of the files, and no table that has a row for each item: labels repeat, and an id is needed no more. Ids
    that files have many times would multiply: the join ends after one row more than there are in the files.
    """
    each = range(len(labeled))
    joins = f"{labeled[0]} t0"
    for at in each[1:]:
        before = ", ".join(f"t{j}.item" for j in range(at))
        joins += f" full join {labeled[at]} t{at} on {f'coalesce({before})' if at > 1 else before} = t{at}.item"
    met = ", ".join(f"t{at}.label as l{at}, t{at}.item as i{at}" for at in each)
    labels = ", ".join(f"l{at}" for at in each)
    rows = ", ".join(f"count(i{at}) as i{at}" for at in each)
    met = f"(select {met} from {joins} limit {n_rows + 1}) met"
    return f"select {labels}, count(*) as n, {rows} from {met} group by {labels}"


def _check_once(engine: Engine, files: Sequence[Labeled], n_rows: Sequence[int]) -> None:
    """Refuse a row without an id, and an id that a file has twice. n_rows : with a label, in each file.

    An id of several files makes more rows of the join than one of them has where another has it twice; so does a join
    that was ended. What is in one file alone is counted there, if there is such a thing.
    """
    each = range(len(n_rows))
    sums = [f"cast(coalesce(sum(case when l{at} is not null then n end), 0) as bigint) as n{at}" for at in each]
    sums += [f"cast(coalesce(sum(i{at}), 0) as bigint) as i{at}" for at in each]
    in_files = " + ".join(f"case when l{at} is null then 0 else 1 end" for at in each)
    sums.append(f"count(case when {in_files} = 1 then 1 end) as alone")
    found = {name: int(value[0]) for name, value in engine.rows(f"select {', '.join(sums)} from joined").items()}
    if any(found[f"i{at}"] < found[f"n{at}"] for at in each):
        raise UnmaskError("an item id is missing in a file, expected a value for every item")
    ids = "select count(*) as n from (select distinct item from f{} where label is not null) ids"
    twice = any(found[f"n{at}"] > n_rows[at] for at in each)
    if twice or (found["alone"] and any(engine.rows(ids.format(at))["n"][0] < n_rows[at] for at in each)):
        repeated = "select item from f{} where label is not null group by item having count(*) > 1"
        again = f"select count(*) as n from ({repeated}) ids"
        several = [(of.name, int(engine.rows(again.format(at))["n"][0])) for at, of in enumerate(files)]
        name, n = next(one for one in several if one[1])
        ids = "an item id occurs" if n == 1 else f"{n:,} item ids occur"
        raise UnmaskError(f"{name}: {ids} twice or more, expected every item in exactly one cluster; leave each once")


def _coded(engine: Engine, at: int, of: Labeled) -> int:
    """Number the labels of file `at` in their order, as table d`at` (label, code); returns how many there are."""
    numbered = "cast(row_number() over (order by label) - 1 as integer) as code"
    n = engine.keep(
        f"d{at}",
        f"select label, {numbered} from (select distinct l{at} as label from joined where l{at} is not null) labels",
    )
    if n == 0:
        raise UnmaskError(f"file {of.name!r} has no rows, expected at least 1 with a value of {of.label!r}")
    return n


def _met(n_files: int) -> str:
    """Items n by the codes c0, c1, ... of their labels in every file, NULL where they are not in one."""
    codes = ", ".join(f"d{at}.code as c{at}" for at in range(n_files))
    joins = " ".join(f"left join d{at} on joined.l{at} = d{at}.label" for at in range(n_files))
    return f"select {codes}, n from joined {joins}"


def _check_met(engine: Engine, guesses: Sequence[str], missing: Missing, unlabeled: Unlabeled) -> list[int]:
    """Refuse what a partition or two are refused for when they are read into memory; return the items of each guess
    or of the truth.
    """
    n_files = len(guesses) + 1
    sums = {f"c{at}": f"c{at}" for at in range(n_files)}
    sums |= {f"both{at}": f"case when c0 is not null then c{at} end" for at in range(1, n_files)}
    items = (f"cast(coalesce(sum(case when {x} is not null then n end), 0) as bigint) as {a}" for a, x in sums.items())
    found = {name: int(value[0]) for name, value in engine.rows(f"select {', '.join(items)} from met").items()}
    for at, name in enumerate(guesses, 1):
        both = found[f"both{at}"]
        lacking, extra = found["c0"] - both, found[f"c{at}"] - both
        refuse_differences(
            both, lacking, extra, missing, unlabeled, guess=f"guess {name}: " if len(guesses) > 1 else ""
        )
    return [found["c0"] + found[f"c{at}"] - found[f"both{at}"] for at in range(1, n_files)]


def _contingency(
    engine: Engine, at: int, everywhere: str, n_labels: Sequence[int], array_bytes: int, unlabeled: Unlabeled
) -> Contingency:
    """The counts of guess number `at`, over the subjects and clusters that have any; singletons come last.

    everywhere : the condition of an item of the truth that is kept
    """
    items = "cast(sum(n) as bigint) as n"
    n_cells = engine.keep(
        "cells", f"select c0, c{at} as c1, {items} from met where c0 is not null{everywhere} group by 1, 2"
    )
    _check_fits(
        _need(n_cells, n_labels[0], n_labels[at], DRAWN_ITEMS),
        array_bytes,
        f"{n_cells:,} pairs of a subject and a cluster",
    )
    cells = engine.rows("select c0, coalesce(c1, -1) as c1, n from cells")
    engine.drop("cells")
    others = engine.rows(f"select c{at} as c1, {items} from met where c0 is null and c{at} is not null group by 1")
    if not len(cells["n"]):
        raise UnmaskError("no item is left, expected at least 1 that the truth and the guesses have in common")
    subject, cluster, own = (cells[name].astype(np.int64) for name in ("c0", "c1", "n"))
    subject, cluster, own = _with_singletons(subject, cluster, own, n_labels[at])
    n_clusters = max(int(cluster.max()) + 1, n_labels[at])
    size = np.bincount(cluster, own, n_clusters).astype(np.int64)
    if unlabeled != "drop":
        size += np.bincount(others["c1"].astype(np.int64), others["n"], n_clusters).astype(np.int64)
    left, subject = np.unique(subject, return_inverse=True)
    new = np.cumsum(size > 0) - 1
    table = of_cells(
        subject,
        new[cluster],
        own,
        subject_size=np.bincount(subject, own, len(left)).astype(np.int64),
        cluster_size=size[size > 0],
    )
    cluster = np.arange(len(table.cluster_size))[None]
    tables, unknown = (counted(table),), unlabeled == "unknown"
    return Contingency(tables, np.ones(1), table.cluster_size, cluster, left, unknown=unknown)


def _with_singletons(
    subject: NDArray[np.int64], cluster: NDArray[np.int64], own: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The cells with those of cluster -1 spread over clusters of one item each, numbered by their subject."""
    gone = np.flatnonzero(cluster < 0)
    gone = gone[np.argsort(subject[gone])]
    here, single = cluster >= 0, np.repeat(subject[gone], own[gone])
    return (
        np.concatenate([subject[here], single]),
        np.concatenate([cluster[here], n_clusters + np.arange(len(single))]),
        np.concatenate([own[here], np.ones(len(single), dtype=np.int64)]),
    )


def _need(cells: int, subjects: int, clusters: int, items: int) -> int:
    """Bytes of arrays of so many cells."""
    measured = cells * _PER_CELL + subjects * _PER_SUBJECT + clusters * _PER_CLUSTER
    return measured + min(items, DRAWN_ITEMS) * _PER_DRAW


def _check_fits(need: int, array_bytes: int, what: str) -> None:
    if need > array_bytes:
        raise FailedError(
            f"{what} take {format_bytes(need)} of memory, and the arrays have {format_bytes(array_bytes)}; give more "
            "(--memory-limit), or audit a part of the subjects"
        )
