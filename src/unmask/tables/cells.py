"""Meaning of cells: each distinct cell of a column is a set of atomic values.

An exact value is a set of one value. `[20, 30]`, `{a, b}`, `123**`, hierarchy nodes and `*` are larger sets. Classes
and candidates are compared by these sets, and not by the text of the cells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats
from unmask.core.csr_rows import CsrRows
from unmask.core.errors import UnmaskError
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.levels import KIND, SCALES, Levels, Type
from unmask.tables.notation import EVERYTHING, MISSING, quote_part
from unmask.tables.scales import Bounds, Scale
from unmask.tables.vocabulary import Vocabulary


def read_levels(
    texts: Sequence[str | None],
    *,
    as_type: Type,
    column: str,
    order: Sequence[str] | None = None,
    hierarchy: Hierarchy | None = None,
    known_labels: Sequence[str] = (),
    bounds: tuple[Floats, Floats] | None = None,
) -> tuple[Levels, NDArray[np.int32]]:
    """Return the sorted, merged levels of the distinct texts of a column, and the level of each text.

    as_type : type of the column; texts are in its notation, see `types.recognize`
    order : atomic values of an ordinal column, lowest first
    known_labels : texts that are values of this column, even if they look like sets or masks
    bounds : lower and upper bound of each number that is not missing, if its text was written from them

    None and "" are missing. Numbers, dates and times are read by their scale: a value, a period such as `2024-03`, `[a,
    b]`, `[a, b)`, `(a, b]`, `[a, b[`, `]a, b]`, `a-b`, `a..b`, `<a`, `<=a`, `>a`, `>=a`, `a+` and `*`. Other columns
    contain values, hierarchy nodes, `{a, b}`, masks such as `123**` (a star hides at most one character) and `*`. An
    ordinal column also has `[a, b]`, all values from a to b. Some tools write a set as `a,b`, `a|b` or `a~b`. Such a
    text is a set if an order, a hierarchy or `known_labels` contains its parts, but not the whole text. Without these,
    `Smith, John` is one value. Texts with the same meaning get the same label.

    UnmaskError with the column and the number of texts that cannot be read, or that are not in the hierarchy or order.

    Numeric levels are sorted by lower, then upper bound. Other levels list exact values first (by rank or name), then
    sets (by lowest member or name). A missing cell is last. Therefore codes do not depend on the order of rows, and
    `20-30` and `[20, 30]` are the same level.

    >>> levels, code = read_levels(["30", "20.0", "20"], as_type="number", column="age")
    >>> levels.labels, code.tolist()
    (('20', '30'), [1, 0, 0])
    """
    if order is None and hierarchy is None and (plain := _read_plain(texts, as_type, known_labels, bounds)) is not None:
        return plain
    domain: tuple[str, ...] = ()
    if KIND[as_type] == "numeric":
        meanings = _numeric([_bounds(text, SCALES[as_type], hierarchy) for text in texts], as_type, column)
    elif order is not None or hierarchy is not None:
        declared = Vocabulary.declare(column, order=order, hierarchy=hierarchy, ordinal=as_type == "ordinal")
        meanings, domain = _categorical(texts, declared, column), declared.domain
    else:
        inferred = Vocabulary.infer(column, texts=texts, ordinal=as_type == "ordinal", labels=known_labels)
        meanings, domain = _categorical(texts, inferred, column), inferred.domain
    covered_by_label, place = dict(reversed(meanings)), {value: position for position, value in enumerate(domain)}
    labels = sorted(covered_by_label, key=lambda label: _sort_key(label, covered_by_label[label], as_type, place))
    rank = {label: position for position, label in enumerate(labels)}
    code = np.fromiter((rank[label] for label, _ in meanings), dtype=np.int32, count=len(texts))
    covered = [covered_by_label[label] for label in labels]
    if KIND[as_type] == "numeric":
        low, high = np.array(covered, dtype=np.float64).reshape(-1, 2).T.copy()
        members = singleton_membership(len(labels), 0)
    else:
        low = high = np.zeros(0, dtype=np.float64)
        members = membership_matrix(covered, len(domain))
    return Levels(tuple(labels), as_type, low, high, domain, members, rank.get(MISSING, -1)), code


def plain_levels(texts: Sequence[str | None]) -> tuple[Levels, NDArray[np.int32]]:
    """Return the texts as sorted levels without interpretation, and the level of each text.

    >>> plain_levels(["20-30", "*"])[0].labels
    ('*', '20-30')
    """
    return _list_levels(texts, "text")


def _list_levels(texts: Sequence[str | None], as_type: Type) -> tuple[Levels, NDArray[np.int32]]:
    domain = tuple(sorted({text for text in texts if text}))
    rank: dict[str | None, int] = dict(zip(domain, range(len(domain)), strict=True))
    rank[None] = rank[MISSING] = len(domain)
    code = np.fromiter(map(rank.__getitem__, texts), dtype=np.int32, count=len(texts))
    gap = bool((code == len(domain)).any())
    labels, nothing = (*domain, MISSING) if gap else domain, np.zeros(0, dtype=np.float64)
    members = singleton_membership(len(labels), len(domain))
    return Levels(labels, as_type, nothing, nothing, domain, members, len(domain) if gap else -1), code


def _read_plain(
    texts: Sequence[str | None], as_type: Type, known_values: Sequence[str], bounds: tuple[Floats, Floats] | None
) -> tuple[Levels, NDArray[np.int32]] | None:
    """Return the levels of a column in plain notation, and the level of each text; None for other notations."""
    if KIND[as_type] == "categorical":
        joined = "\n".join(filter(None, texts))
        special = any(mark in joined for mark in ("*{,|~" if known_values else "*{"))
        return None if special else _list_levels(texts, as_type)
    present = [text for text in texts if text]
    form = "span" if bounds else form_of(present)
    if form is None or as_type != _TYPE_OF_FORM[form] or (values := bounds or values_of(present, form)) is None:
        return None
    (low, high), first, place = _distinct(*values)
    labels = tuple(labels_of([present[position] for position in first.tolist()], form))
    code, missing = place.astype(np.int32), -1
    if len(present) < len(texts):
        missing = len(labels)
        code = np.full(len(texts), missing, dtype=np.int32)
        code[np.fromiter(map(bool, texts), dtype=np.bool_, count=len(texts))] = place
        labels, low, high = (*labels, MISSING), np.append(low, np.nan), np.append(high, np.nan)
    return Levels(labels, as_type, low, high, (), singleton_membership(len(labels), 0), missing), code


def _distinct(low: Floats, high: Floats) -> tuple[tuple[Floats, Floats], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct bounds by lower, then upper end, the position of one text of each, and the number of
    each text.
    """
    if low is high:
        values, first, place = np.unique(low, return_index=True, return_inverse=True)
        return (values, values), first, place
    pairs = np.stack((low, high), axis=1).view(np.complex128)[:, 0]  # sorted by the real part, then by the other one
    bounds, first, place = np.unique(pairs, return_index=True, return_inverse=True)
    return (bounds.real.copy(), bounds.imag.copy()), first, place


_TYPE_OF_FORM: Mapping[PlainForm, Type] = {
    "whole": "number", "decimal": "number", "span": "number", "day": "date", "moment": "datetime",
}  # fmt: skip
"""Type that each plain form belongs to."""


_Meaning = tuple[str, Any]
"""Canonical label and meaning of a text: numeric bounds, or positions of values in the domain (None: all; (): none)."""


def _sort_key(label: str, covered: Any, as_type: Type, place: Mapping[str, int]) -> tuple[object, ...]:
    """Return the sort key of a level: numbers by bounds, others exact values first, missing cells last."""
    if label == MISSING:
        return (True,)
    if KIND[as_type] == "numeric":
        return (False, *covered)
    exact = covered is not None and len(covered) == 1 and (label in place or not label.endswith(EVERYTHING))
    return False, covered is None, not exact, (covered or ()) if as_type == "ordinal" else (), label


def membership_matrix(sets: Sequence[tuple[int, ...] | None], n_values: int) -> CsrRows:
    """Return (n_levels, n_values) CSR of the values of each level, ascending; None in `sets` means all values."""
    rows = [range(n_values) if covered is None else covered for covered in sets]
    ends = np.concatenate([[0], np.cumsum(list(map(len, rows)))]).astype(np.int32)
    values = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(ends[-1]))
    return CsrRows(np.ones(len(values), dtype=np.bool_), values, ends, (len(sets), n_values))


def list_set_levels(domain: Sequence[str], sets: CsrRows, as_type: Type) -> tuple[Levels, NDArray[np.int32]]:
    """Return the sorted levels of sets of values, and the level of each set, as `read_levels` reads their texts.

    domain : values, ascending, each in a set; none looks like a set or a mask
    sets : (n_sets, D) values of each set, ascending; sets differ and are not empty

    >>> levels, code = list_set_levels(["a", "b"], CsrRows.of_dense(np.array([[True, True], [False, True]])), "text")
    >>> levels.labels, code
    (('b', '{a, b}'), array([1, 0], dtype=int32))
    """
    parts, values, ends = list(map(quote_part, domain)), sets.indices.tolist(), sets.indptr.tolist()
    texts = ["{" + ", ".join([parts[value] for value in values[start:stop]]) + "}" for start, stop in pairwise(ends)]
    is_single = (np.diff(sets.indptr) == 1).tolist()
    labels = [domain[values[ends[i]]] if is_single[i] else text for i, text in enumerate(texts)]
    order = np.array(sorted(range(len(labels)), key=lambda i: (not is_single[i], labels[i])))
    code = np.empty(len(order), dtype=np.int32)
    code[order] = np.arange(len(order), dtype=np.int32)
    nothing, sorted_labels = np.zeros(0, dtype=np.float64), tuple(labels[i] for i in order)
    return Levels(sorted_labels, as_type, nothing, nothing, tuple(domain), sets.take(order), -1), code


def singleton_membership(n_levels: int, n_values: int) -> CsrRows:
    """Return (n_levels, n_values) CSR in which level i has the value i."""
    n = min(n_levels, n_values)
    indptr = np.minimum(np.arange(n_levels + 1, dtype=np.int32), n)
    return CsrRows(np.ones(n, dtype=np.bool_), np.arange(n, dtype=np.int32), indptr, (n_levels, n_values))


def _categorical(texts: Sequence[str | None], values: Vocabulary, column: str) -> list[_Meaning]:
    meanings = [values.read(text) for text in texts]
    if unknown := meanings.count(None):
        place = "in its hierarchy" if values.hierarchy else "in its order"
        raise UnmaskError(
            f"column {column!r} has values that are not {place} ({unknown} distinct); "
            "add the values there or correct the column"
        )
    return [meaning for meaning in meanings if meaning]


# --- numbers and intervals ----------------------------------------------------------------------------------------


def _numeric(bounds: Sequence[Bounds | None], as_type: Type, column: str) -> list[_Meaning]:
    unread = sum(pair is None for pair in bounds)
    if unread:
        raise UnmaskError(
            f"{as_type} column {column!r} has values that are neither a {as_type} nor an interval ({unread} distinct); "
            "correct them, name their text in `na`, or declare the column as text"
        )
    write = SCALES[as_type].write
    return [(MISSING if math.isnan(pair[0]) else write(*pair), pair) for pair in bounds if pair is not None]


def _bounds(text: str | None, scale: Scale, hierarchy: Hierarchy | None) -> Bounds | None:
    if not text:
        return math.nan, math.nan
    if hierarchy is not None and text in hierarchy.nodes and text != EVERYTHING:
        ends = [scale.read(hierarchy.leaves[leaf]) for leaf in hierarchy.nodes[text]]
        read = [pair for pair in ends if pair is not None]
        if len(read) == len(ends):
            return min(low for low, _ in read), max(high for _, high in read)
    return scale.read(text)


# --- plain notation of databases and programs -----------------------------------------------------------------------
# One regular expression tests all texts of a column, and NumPy converts them: a column of a million distinct values
# takes a second instead of a minute. Other notations are read cell by cell, with the same result.

PlainForm = Literal["whole", "decimal", "span", "day", "moment"]
"""Form of all texts of a column: whole numbers; decimals; whole numbers and intervals `[a, b]` of them; days; or
days with a time.
"""

_NUMBER = r"(?:-(?=[0-9.]*[1-9]))?(?:0|[1-9][0-9]{0,9})"
_DAY = r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
_FORMS: Mapping[PlainForm, str] = {
    "whole": _NUMBER,
    "decimal": rf"{_NUMBER}(?:\.[0-9]{{1,4}})?",
    "span": rf"(?:{_NUMBER}|\[{_NUMBER}, {_NUMBER}\])",
    "day": _DAY,
    "moment": rf"{_DAY} (?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?",
}
_ENDS_ONLY = str.maketrans("", "", "[],")
_UNITS = {"day": "datetime64[D]", "moment": "datetime64[s]"}


def form_of(texts: Sequence[str]) -> PlainForm | None:
    """Return the form of all texts; None for several forms, or without texts.

    >>> form_of(["12", "-7"]), form_of(["12.50", "7"]), form_of(["[5, 9]", "7"]), form_of(["007"])
    ('whole', 'decimal', 'span', None)
    """
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts):  # no texts, or a text with a line break
        return None
    return next((form for form, pattern in _FORMS.items() if not re.search(rf"(?m)^(?!(?:{pattern})$)", joined)), None)


def values_of(texts: Sequence[str], form: PlainForm) -> tuple[Floats, Floats] | None:
    """Return the lower and upper bound of each text, dates as days and times as seconds since 1970.

    None if a text is not a valid date or interval.

    >>> values_of(["1970-01-02"], "day"), values_of(["2023-02-30"], "day")
    ((array([1.]), array([1.])), None)
    """
    if form == "span":
        pairs = re.sub(r"(?m)^([^\[].*)$", r"\1, \1", "\n".join(texts)).translate(_ENDS_ONLY)
        low, high = np.fromstring(pairs, dtype=np.float64, sep=" ").reshape(-1, 2).T
        return (low, high) if (low <= high).all() else None
    if form in _UNITS:
        try:
            values = np.array(texts, dtype=_UNITS[form]).astype(np.int64).astype(np.float64)
        except ValueError:
            return None
    else:
        values = np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    return values, values


def labels_of(texts: Sequence[str], form: PlainForm) -> list[str]:
    """Return the shortest text of each value.

    >>> labels_of(["12.50", "7"], "decimal"), labels_of(["[5, 5]", "[5, 9]"], "span")
    (['12.5', '7'], ['5', '[5, 9]'])
    >>> labels_of(["1970-03-05 09:30:00"], "moment")
    ['1970-03-05 09:30']
    """
    if form == "span":
        return re.sub(r"\[([0-9-]+), \1\]", r"\1", "\n".join(texts)).split("\n")
    if form == "decimal":
        return [text.rstrip("0").rstrip(".") if "." in text else text for text in texts]
    return [text[:16] if text.endswith(":00") else text for text in texts] if form == "moment" else list(texts)
