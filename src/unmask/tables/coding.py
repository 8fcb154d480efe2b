"""Dictionary coding of columns with DuckDB: distinct texts of each column, and one code per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Integers
from unmask.core.csr_rows import CHUNK
from unmask.data.sql import BLANKS, quote_text

_REAL = {"FLOAT", "DOUBLE"}


@dataclass(frozen=True, eq=False)
class Encoded:
    """Dictionary-coded column: row i has the stripped cell `texts[codes[i]]`. The last text may be None (missing).

    stored     : DuckDB's name of the type in the source; "" for a text file
    row_counts : (n,) rows of the source that each code represents; None if each is one row
    """

    texts: tuple[str | None, ...]
    codes: NDArray[np.int32]
    stored: str = ""
    row_counts: Integers | None = None


def encode(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    names: Sequence[str],
    chosen: Sequence[str],
    *,
    once: Sequence[str] = (),
) -> dict[str, Encoded]:
    """Return the chosen columns of a relation, encoded, by name.

    once : columns that are left out if every row has another text
    """
    types = [""] * len(names)  # of a text file
    if not relation.startswith("read_csv("):
        types = [str(row[1]) for row in connection.execute(f"describe select * from {relation}").fetchall()]
    aliases = ", ".join(f"c{position}" for position in range(len(types)))
    positions = {name: position for position, name in enumerate(names) if name in chosen}
    cells = ", ".join(f"c{position}::varchar as c{position}" for position in positions.values())
    # reading a Parquet column twice is fast, except for real numbers, whose column statistics ignore NaN
    is_read_again = relation.startswith("read_parquet(") and not any(
        types[position] in _REAL for position in positions.values()
    )
    storage = "view" if is_read_again else "table"
    connection.execute(f"create temp {storage} cells as select {cells} from {relation} as source({aliases})")
    is_small = not is_read_again and connection.fetchall()[0][0] <= _MAX_SMALL_ROWS
    arrays = connection.execute("select * from cells").fetchnumpy() if is_small else {}

    def encode_column(position: int) -> Encoded:
        name = f"c{position}"
        encoded = _encode_small(arrays[name].tolist()) if arrays else _encode_by_hash(connection, name)
        empty = {"", "nan", "-nan"} if types[position] in _REAL else {""}  # among real numbers, NaN is missing
        return replace(_strip_texts(encoded, empty), stored=types[position])

    return {
        name: encode_column(position)
        for name, position in positions.items()
        if name not in once or _has_repeats(connection, f"c{position}")
    }


def _has_repeats(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Return whether a text is missing or occurs twice, ignoring blanks and composed letters."""
    text = f"if({name} > '!' and substr({name}, -1) > '!' and strlen({name}) = length({name}), {name}, "
    text += f"nfc_normalize(trim({name}, {quote_text(BLANKS)})))"  # skipped for most texts, because it doubles the time
    (repeats,) = connection.execute(f"select count(*) > count(distinct {text}) from cells").fetchall()
    return bool(repeats[0])


_MAX_SMALL_ROWS = 4096
"""Most rows that are encoded without queries, of which each column takes two."""


def _encode_small(values: Sequence[str | None]) -> Encoded:
    """Return a column of a small table encoded by its sorted texts, as `_encode_by_hash` does."""
    distinct = {*values}
    texts = (*sorted(text for text in distinct if text is not None), *(distinct & {None}))
    number = {text: position for position, text in enumerate(texts)}
    return Encoded(texts, np.array([number[text] for text in values], dtype=np.int32))


def _encode_by_hash(connection: duckdb.DuckDBPyConnection, name: str, *, salt: int = 0) -> Encoded:
    """Return a column encoded by hashes of its sorted texts, so that each text becomes a Python object only once."""
    text_hash = f"hash({name}, {salt})"
    query = f"select {name} as text, {text_hash} as hash from cells group by {name} order by text nulls last"
    distinct_texts = connection.execute(query).fetchnumpy()  # a missing text has a hash, too
    order = np.argsort(distinct_texts["hash"])
    hashes = distinct_texts["hash"][order]
    if (hashes[1:] == hashes[:-1]).any():  # a hash collision, expected once in ten million large columns
        return _encode_by_hash(connection, name, salt=salt + 1)
    rows = connection.execute(f"select {text_hash} as hash from cells").fetchnumpy()["hash"]
    return Encoded(tuple(distinct_texts["text"].tolist()), order.astype(np.int32)[look_up_hashes(hashes, rows)])


def look_up_hashes(ordered: NDArray[np.uint64], hashes_to_find: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Return (n,) positions of hashes in a sorted array that contains them.

    Hashes are uniformly distributed, so their first bits give a position close to the result. This takes a quarter of
    the time of a binary search.

    >>> look_up_hashes(np.array([3, 7, 1 << 63], np.uint64), np.array([7, 1 << 63, 3], np.uint64))
    array([1, 2, 0], dtype=int32)
    """
    shift = np.uint64(64 - min(len(ordered).bit_length() + 3, 22))
    first = np.concatenate(([0], np.cumsum(np.bincount((ordered >> shift).astype(np.int64))))).astype(np.int32)
    place = np.empty(len(hashes_to_find), dtype=np.int32)
    for start in range(0, len(hashes_to_find), CHUNK):  # blocks that fit into the cache
        block, block_places = hashes_to_find[start : start + CHUNK], place[start : start + CHUNK]
        block_places[:] = first[(block >> shift).astype(np.int64)]
        not_found = np.flatnonzero(ordered[block_places] != block)
        while len(not_found):
            block_places[not_found] += np.int32(1)
            not_found = not_found[ordered[block_places[not_found]] != block[not_found]]
    return place


def _strip_texts(raw: Encoded, empty: set[str]) -> Encoded:
    """Return the column without blanks around texts; empty texts are missing, and the missing text is the last."""
    joined = "".join(filter(None, raw.texts))
    if empty.isdisjoint(raw.texts) and not any(blank in joined for blank in BLANKS):
        return raw
    stripped = [text and text.strip(BLANKS) for text in raw.texts]
    cells = tuple(None if text in empty else text for text in stripped)
    texts = tuple(dict.fromkeys(text for text in cells if text is not None))
    place: dict[str | None, int] = dict(zip((*texts, None), range(len(texts) + 1), strict=True))
    codes = np.array([place[text] for text in cells], dtype=np.int32)[raw.codes]
    return Encoded((*texts, None) if None in cells else texts, codes)


def encode_array(array: np.ma.MaskedArray[Any, Any]) -> Encoded:
    """Return an encoded array of any type, with values as DuckDB writes them; masked cells are missing."""
    missing = np.ma.getmaskarray(array).copy()
    values = np.asarray(array.data)
    if values.dtype.kind == "O" and not missing.any() and set(map(type, values)) == {str}:
        return _encode_texts(values.tolist())
    if values.dtype.kind == "O":
        missing |= np.fromiter((v is None or v != v for v in values), dtype=np.bool_, count=values.size)
        values = np.array(["" if absent else str(v) for v, absent in zip(values, missing, strict=True)], dtype=np.str_)
    if values.dtype.kind in "US":
        values = np.char.strip(values.astype(np.str_), BLANKS)
        missing |= values == ""
    elif values.dtype.kind == "f":
        missing |= np.isnan(values)
    elif values.dtype.kind in "mM":
        missing |= np.isnat(values)
    unique, code = np.unique(values[~missing], return_inverse=True)
    codes = np.full(values.size, unique.size, dtype=np.int32)
    codes[~missing] = code
    texts = tuple(str(value) for value in unique)
    if values.dtype.kind == "b":
        texts = tuple(text.lower() for text in texts)  # as DuckDB writes them
    return Encoded((*texts, None) if missing.any() else texts, codes)


def _encode_texts(values: Sequence[str]) -> Encoded:
    """Return encoded texts; each distinct text is processed once."""
    number = {text: position for position, text in enumerate(dict.fromkeys(values))}
    encoded = encode_array(np.ma.asarray(np.array(list(number), dtype=np.str_)))
    return Encoded(encoded.texts, encoded.codes[np.fromiter(map(number.__getitem__, values), np.int64, len(values))])
