"""Dictionary coding of columns: each as its distinct texts, and one code per row; the database does the work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import CHUNK
from unmask.data.sql import BLANKS, quote_text

_REAL = {"FLOAT", "DOUBLE"}


@dataclass(frozen=True, eq=False)
class Encoded:
    """One column: `texts[codes[i]]` is the cell of row i, blanks around it removed; a missing cell is None, last.

    stored : DuckDB's name of the type the source holds the cells in; "" for a text file, which has none.
    """

    texts: tuple[str | None, ...]
    codes: NDArray[np.int32]
    stored: str = ""


def encode(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    names: Sequence[str],
    some: Sequence[str],
    *,
    once: Sequence[str] = (),
) -> dict[str, Encoded]:
    """Some of the columns of a relation, by name; once : those that are left out if every row has a text of its own."""
    types = [str(row[1]) for row in connection.execute(f"describe select * from {relation}").fetchall()]
    aliases = ", ".join(f"c{at}" for at in range(len(types)))
    kept = {name: at for at, name in enumerate(names) if name in some}
    cells = ", ".join(f"c{at}::varchar as c{at}" for at in kept.values())
    # A column of Parquet is quickly read again; not so numbers that may be none, which its bounds do not know of.
    again = relation.startswith("read_parquet(") and not any(types[at] in _REAL for at in kept.values())
    kept_as = "view" if again else "table"
    connection.execute(f"create temp {kept_as} cells as select {cells} from {relation} as source({aliases})")
    of_text = relation.startswith("read_csv(")
    return {
        name: encode_column(connection, f"c{at}", "" if of_text else types[at], real=types[at] in _REAL)
        for name, at in kept.items()
        if name not in once or _repeats(connection, f"c{at}")
    }


def _repeats(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Whether a text is missing or occurs twice, however its letters are composed and whatever blanks are around it."""
    text = f"if({name} > '!' and right({name}, 1) > '!' and strlen({name}) = length({name}), {name}, "
    text += f"nfc_normalize(trim({name}, {quote_text(BLANKS)})))"  # of most texts nothing changes, which costs as much
    (found,) = connection.execute(f"select count(*) > count(distinct {text}) from cells").fetchall()
    return bool(found[0])


def encode_column(connection: duckdb.DuckDBPyConnection, name: str, stored: str, *, real: bool) -> Encoded:
    """A column of the table `cells`; of real numbers, those that are none are missing, too."""
    cleaned = _cleaned(_hashed(connection, name), {"", "nan", "-nan"} if real else {""})
    return replace(cleaned, stored=stored)


def _hashed(connection: duckdb.DuckDBPyConnection, name: str, *, salt: int = 0) -> Encoded:
    """The distinct texts by their hash, which is looked up for every row: no text becomes an object twice."""
    of = f"hash({name}, {salt})"
    distinct = f"select {name} as text, {of} as hash from cells where {name} is not null group by {name} order by hash"
    found = connection.execute(distinct).fetchnumpy()
    if (found["hash"][1:] == found["hash"][:-1]).any():  # two texts of one hash: once in ten million large columns
        return _hashed(connection, name, salt=salt + 1)
    texts: list[str | None] = found["text"].tolist()
    rows = connection.execute(f"select if({name} is null, null, {of}) as hash from cells").fetchnumpy()["hash"]
    missing = np.ma.getmaskarray(rows)
    codes = np.full(len(rows), len(texts), dtype=np.int32)
    codes[~missing] = places_of(found["hash"], np.ma.getdata(rows)[~missing])
    return Encoded((*texts, None) if missing.any() else tuple(texts), codes)


def places_of(ordered: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int32]:
    """(n,) where each hash stands among those in ascending order; every one of them is there.

    Hashes are spread evenly, so that their first bits say where to begin, and few stand further on: a fourth of the
    time of a binary search.

    >>> places_of(np.array([3, 7, 1 << 63], np.uint64), np.array([7, 1 << 63, 3], np.uint64))
    array([1, 2, 0], dtype=int32)
    """
    shift = np.uint64(64 - min(len(ordered).bit_length() + 3, 22))
    first = np.concatenate(([0], np.cumsum(np.bincount((ordered >> shift).astype(np.int64))))).astype(np.int32)
    place = np.empty(len(wanted), dtype=np.int32)
    for start in range(0, len(wanted), CHUNK):  # whose temporaries stay in the cache
        some, found = wanted[start : start + CHUNK], place[start : start + CHUNK]
        found[:] = first[(some >> shift).astype(np.int64)]
        left = np.flatnonzero(ordered[found] != some)
        while len(left):
            found[left] += np.int32(1)
            left = left[ordered[found[left]] != some[left]]
    return place


def _cleaned(raw: Encoded, empty: set[str]) -> Encoded:
    """Blanks around the texts removed; those that are then empty are missing."""
    stripped = [None if text is None else text.strip(BLANKS) for text in raw.texts]
    cells = tuple(None if text in empty else text for text in stripped)
    if cells == raw.texts:
        return raw
    texts = tuple(dict.fromkeys(text for text in cells if text is not None))
    place: dict[str | None, int] = dict(zip((*texts, None), range(len(texts) + 1), strict=True))
    codes = np.array([place[text] for text in cells], dtype=np.int32)[raw.codes]
    return Encoded((*texts, None) if None in cells else texts, codes)


def encode_array(array: np.ma.MaskedArray[Any, Any]) -> Encoded:
    """An array of any type, its values as the database would write them; masked cells are missing."""
    missing = np.ma.getmaskarray(array).copy()
    values = np.asarray(array.data)
    if values.dtype.kind == "O" and not missing.any() and set(map(type, values)) == {str}:
        return _encode_texts(values.tolist())
    if values.dtype.kind == "O":
        missing |= np.fromiter((v is None or v != v for v in values), dtype=np.bool_, count=values.size)
        values = np.array(["" if gone else str(v) for v, gone in zip(values, missing, strict=True)], dtype=np.str_)
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
        texts = tuple(text.lower() for text in texts)  # as the engine writes it
    return Encoded((*texts, None) if missing.any() else texts, codes)


def _encode_texts(values: Sequence[str]) -> Encoded:
    """Each different text is looked at once."""
    number = {text: at for at, text in enumerate(dict.fromkeys(values))}
    found = encode_array(np.ma.asarray(np.array(list(number), dtype=np.str_)))
    return Encoded(found.texts, found.codes[np.fromiter(map(number.__getitem__, values), np.int64, len(values))])
