"""Column types, declared or recognized from the texts, and the texts in the notation of the type.

Ambiguous texts are not guessed: a note names the ambiguity and the option that resolves it. The result does not depend
on the order of the rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError, nearest
from unmask.data.column_names import design_role, number_kind
from unmask.tables.cells import PlainForm, form_of, values_of
from unmask.tables.dates import DAYS, MOMENTS, DayOrder, day_orders, iso, without_midnight
from unmask.tables.levels import KIND, Type
from unmask.tables.notation import EVERYTHING
from unmask.tables.scales import NUMBERS, Decimal, decimal_of, plain, thousands
from unmask.tables.unit import key_rank

if TYPE_CHECKING:
    from unmask.tables.coding import Encoded
    from unmask.tables.column import Column
    from unmask.tables.hierarchy import Hierarchy

MISSING_CODES = frozenset({"NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?"})
"""Texts that are missing cells, unless `na` replaces them."""

MISSING_NUMBERS = frozenset(
    {"-", "--", ".", "None", "none", "na", "n.a.", "k.A.", "k. A.", "unknown", "Unknown", "unbekannt", "Unbekannt"}
)
"""Texts that are missing cells among numbers and dates. In other columns they may be values, such as no diagnosis."""

MAX_CODES, MIN_ROWS_PER_CODE = 12, 20
"""Whole numbers below 100 are codes of categories if there are at most this many different ones, with at least
this many rows each on average.
"""

_DESIGN = ("household", "stratum", "cluster", "flag")
_INTEGER_NAME = re.compile(r"[0-9]+(?:\.0+)?")
_WHOLE = re.compile(r"[0-9]+")
_ICD = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?")
_MASK_PREFIX = re.compile(r"[0-9A-Za-z][0-9A-Za-z./-]*")
_MONTH = re.compile(r"[0-9]{4}-(?:Q[1-4]|[0-9]{2}(?![0-9]))")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])|^\*$")
_YEAR_LAST = re.compile(r"[0-9][./-][0-9]{4}(?![0-9])")
_THREE_DECIMALS = re.compile(r"\.[0-9]{3}$", re.MULTILINE)
_LEADING_ZERO = re.compile(r"(?<![0-9.])0[0-9]")


@dataclass(frozen=True)
class Declared:
    """Declared properties of a column's cells; others (None) are recognized, see `recognize`.

    type : type of the column
    days : first part of a date such as 03/04/1970, day or month
    order : values of an ordinal column
    like : column of another table whose type is used if the texts allow it
    """

    type: Type | None = None
    days: DayOrder | None = None
    order: Sequence[str] | None = None
    hierarchy: Hierarchy | None = None
    like: Column | None = None


def parse_type(column: str, text: str) -> tuple[Type, DayOrder | None]:
    """Parse a type in the notation of users: its name, for dates with `:day-first` or `:month-first`.

    >>> parse_type("birth", "date:day-first"), parse_type("zip", "code")
    (('date', 'day-first'), ('code', None))
    """
    name, _, days = str(text).partition(":")
    if name not in get_args(Type):
        raise UnmaskError(f"the type of column {column!r} is {name!r}, {nearest(name, get_args(Type))}")
    if days and (days not in get_args(DayOrder) or name not in ("date", "datetime")):
        raise UnmaskError(
            f"the type of column {column!r} is {text!r}, expected {name} alone, date:day-first or date:month-first"
        )
    return cast("Type", name), cast("DayOrder", days) if days else None


class Recognized(NamedTuple):
    """Type of a column, its distinct texts in the notation of the type (None: missing), and notes for the user.

    numbers_as_code : whether whole numbers were guessed to be codes
    """

    type: Type
    texts: tuple[str | None, ...]
    notes: tuple[str, ...]
    numbers_as_code: bool = False


def recognize(
    columns: Mapping[str, Encoded],
    declared: Mapping[str, Declared],
    *,
    na: Sequence[str] | None = None,
    decimal: Decimal | None = None,
) -> dict[str, Recognized]:
    """Recognize the type of each column, and return its texts in one notation.

    na : texts of missing cells. None: `MISSING_CODES`, except those that are values in a column's order or hierarchy.
        Unless `na` is empty (`()` or `''`), `MISSING_NUMBERS` are also missing among numbers and dates. Texts are
        compared in Unicode form NFC
    decimal : decimal mark. None: found in each column. If both marks are possible in a column, the mark of the table's
        other columns is used, or a point

    A type that is not declared is recognized from the content, in the same way for files and frames:

    * "ordinal" with a declared order, "text" with a hierarchy
    * "number" if every text is a number or interval that keeps its digits as a number (no leading zero, no 16 digits),
      and whole numbers are not codes by the column's name or by few different values in many rows
    * "date" or "datetime" if every text is one, and some are more precise than a year
    * "code" for other whole numbers, for diagnoses such as E11.9, and for masks such as `481**`
    * "text" otherwise
    """
    if decimal not in (None, *get_args(Decimal)):
        raise UnmaskError(f"decimal is {decimal!r}, expected '.' or ','")
    by_name = {name: _Column.of(name, column, declared[name], na) for name, column in columns.items()}
    marks = {name: decimal or column.mark for name, column in by_name.items()}
    common_mark: Decimal = "," if {mark for mark in marks.values() if mark in (".", ",")} == {","} else "."
    typed = {name: column.choose_type(marks[name], common_mark) for name, column in by_name.items()}
    return {name: column.recognize(typed[name]) for name, column in by_name.items()}


class _Typed(NamedTuple):
    """Type, conversion of a text to its notation, a note, and whether whole numbers were guessed to be codes."""

    type: Type
    to: Callable[[str], str]
    note: str = ""
    numbers_as_code: bool = False


@dataclass(frozen=True, eq=False)
class _Column:
    """Distinct texts of a column, and the column itself.

    missing_codes : texts that are missing cells
    missing_numbers : texts that are missing cells among numbers
    """

    name: str
    texts: tuple[str | None, ...]
    encoded: Encoded
    declared: Declared
    missing_codes: frozenset[str]
    missing_numbers: frozenset[str]

    @classmethod
    def of(cls, name: str, encoded: Encoded, declared: Declared, na: Sequence[str] | None) -> _Column:
        """Return the texts of a column; na : texts of missing cells, None for the default."""
        texts = encoded.texts
        if not "".join(filter(None, texts)).isascii():
            texts = tuple(text and unicodedata.normalize("NFC", text) for text in texts)
        values = {*(declared.order or ()), *(declared.hierarchy.nodes if declared.hierarchy else ())}
        missing_texts = MISSING_CODES - values if na is None else frozenset(na)
        missing_numbers = MISSING_NUMBERS - values if missing_texts - {""} else frozenset[str]()
        return cls(name, texts, encoded, declared, missing_texts, missing_numbers)

    def count_rows(self) -> Integers:
        """Return the number of rows of each text."""
        return np.bincount(self.encoded.codes, self.encoded.row_counts, len(self.texts)).astype(np.int64)

    @cached_property
    def values(self) -> list[str]:
        """Texts that are not missing cells if the column is numeric."""
        missing_texts = {None, *self.missing_codes, *self.missing_numbers}
        return [text for text in self.texts if text not in missing_texts and text]

    @cached_property
    def plain_form(self) -> PlainForm | None:
        """Common form of all values; None if three decimals may be a group of thousands."""
        form = form_of(self.values)
        if form == "decimal" and _THREE_DECIMALS.search("\n".join(self.values)):
            return None
        is_valid = form in (None, "whole", "decimal") or values_of(self.values, form) is not None
        return form if is_valid else None

    @cached_property
    def mark(self) -> str | None:
        """Decimal mark, see `decimal_of`; None for a column that is declared to contain other values."""
        guessed = self.declared.type is None and self.declared.order is None and self.declared.hierarchy is None
        if guessed and self.plain_form is not None:
            return {"whole": "", "decimal": ".", "span": ""}.get(self.plain_form)
        return decimal_of(self.values) if guessed or self.declared.type == "number" else None

    def recognize(self, typed: _Typed) -> Recognized:
        """Return the texts in the notation of the type."""
        missing_texts = self.missing_codes
        if KIND[typed.type] == "numeric":
            missing_texts |= self.missing_numbers
        texts = self.texts
        if typed.to is not str or not missing_texts.isdisjoint(texts):
            texts = tuple(None if text is None or text in missing_texts else typed.to(text) for text in texts)
        notes = tuple(filter(None, (typed.note, self._missing(missing_texts))))
        return Recognized(typed.type, texts, notes, typed.numbers_as_code)

    def _missing(self, missing_texts: frozenset[str]) -> str:
        if missing_texts.isdisjoint(self.texts):
            return ""
        rows_of_text = zip(self.texts, self.count_rows().tolist(), strict=True)
        missing_rows = {text: rows for text, rows in rows_of_text if text in missing_texts}
        codes, number = ", ".join(f"'{code}'" for code in sorted(missing_rows)), sum(missing_rows.values())
        changes = "--na changes that" if self.missing_codes.issuperset(missing_rows) else self._type_option("text")
        return f"{self.name}: {number:,} cell{'s' * (number > 1)} {codes} read as missing ({changes})"

    # ----- types

    def choose_type(self, mark: str | None, common_mark: Decimal) -> _Typed:
        """Return the declared type, the type of the similar column if it fits, or the first type that fits."""
        if (as_type := self.declared.type) is not None:
            if as_type == "number":
                return self._number(mark, common_mark)
            return self._declared_dates(as_type) if KIND[as_type] == "numeric" else _Typed(as_type, str)
        if self.declared.order is not None or self.declared.hierarchy is not None:
            return _Typed("ordinal" if self.declared.order is not None else "text", str)
        like = None if self.declared.like is None else self._like(self.declared.like.type, mark, common_mark)
        return like or self._guess_type(mark, common_mark)

    def _like(self, as_type: Type, mark: str | None, common_mark: Decimal) -> _Typed | None:
        if as_type == "number":
            number = self._number(mark, common_mark)._replace(note="")
            fits = self._are_numbers(mark) or all(NUMBERS.read(number.to(value)) for value in self.values)
            return number if fits else None
        if as_type in ("date", "datetime"):
            dates, _ = self._dates(as_type)
            return dates and dates._replace(note="")
        return _Typed(as_type, _without_decimals if all(map(_INTEGER_NAME.fullmatch, self.values)) else str)

    def _guess_type(self, mark: str | None, common_mark: Decimal) -> _Typed:
        exact = [value for value in self.values if value != EVERYTHING]
        if mark is not None and self._is_lossless(number := self._number(mark, common_mark), mark):
            return _Typed("code", _without_decimals, numbers_as_code=True) if self._are_codes(exact) else number
        dates, unclear = self._dates()
        if dates is not None and any(_MONTH.search(dates.to(value)) for value in self.values):
            return dates
        mixed = f"{self.name}: read as text, because decimal points and commas are mixed (--decimal sets the mark)"
        note = mixed if mark == "mixed" else unclear
        if not note and exact and (all(map(_WHOLE.fullmatch, exact)) or _look_like_codes(exact)):
            return _Typed("code", str, f"{self.name}: a code ({self._type_option('text')})")
        return _Typed("text", str, note)

    def _are_codes(self, values: Sequence[str]) -> bool:
        """Return whether whole numbers are codes, by the column's name or by few different values in many rows."""
        kind, n = number_kind(self.name), len(values)
        is_named = kind == "code" or design_role(self.name) in _DESIGN or key_rank(self.name, n, identifies=False) > 0
        if kind == "quantity" or not (is_named or n <= MAX_CODES) or not all(map(_INTEGER_NAME.fullmatch, values)):
            return False
        return is_named or (max(map(float, values)) < 100 and self.count_rows().sum() >= MIN_ROWS_PER_CODE * n)

    def _type_option(self, text: str) -> str:
        return f"--type {quote(f'{self.name}={text}')} changes that"

    # ----- numbers

    def _are_numbers(self, mark: str | None) -> bool:
        """Return whether all values are plain numbers or intervals with this decimal mark."""
        return self.plain_form in ("whole", "span") or (self.plain_form == "decimal" and mark == ".")

    def _number(self, mark: str | None, common_mark: Decimal) -> _Typed:
        decimal: Decimal = cast("Decimal", mark) if mark in (".", ",") else common_mark
        marks = "" if self._are_numbers(decimal) else thousands(self.values, decimal)
        name, other_name = ("point", "comma") if decimal == "." else ("comma", "point")
        remarks = [f"decimal {name}"] if decimal == "," and mark != "" else []
        remarks += [f"{marks} between thousands"] if marks else []
        if mark == "either":
            remarks = [f"read with a decimal {name}, but a decimal {other_name} is possible (--decimal sets the mark)"]
        note = f"{self.name}: {', '.join(remarks)}" if remarks else ""
        return _Typed("number", str if self._are_numbers(decimal) else lambda text: plain(text, decimal), note)

    def _is_lossless(self, number: _Typed, mark: str) -> bool:
        """Return whether values keep their digits as numbers, unlike postcodes and long identifiers."""
        if self._are_numbers(mark):
            return True
        texts = [number.to(value) for value in self.values]
        if any(text[0] in "0+-[(]<>" and _LEADING_ZERO.search(text) for text in texts):
            return False
        read = [bounds for text in texts if (bounds := NUMBERS.read(text))]
        ends = np.array(read, dtype=np.float64).reshape(-1)
        ends = ends[np.isfinite(ends)]
        return len(read) == len(texts) and bool(ends.size) and bool((np.abs(ends) < 2**53).all())

    # ----- dates

    def _dates(self, as_type: Type | None = None) -> tuple[_Typed | None, str]:
        """Return the conversion if all values are dates or times, or the reason why they are ambiguous.

        as_type : "datetime" reads times, even if all are midnight
        """
        if self.plain_form == "day" and as_type != "datetime":
            return _Typed("date", str, f"{self.name}: dates"), ""
        if self.plain_form == "moment" and not all(value.endswith((" 00:00", " 00:00:00")) for value in self.values):
            return _Typed("datetime", str, f"{self.name}: dates with times"), ""
        if not all(map(_YEAR.search, self.values)):
            return None, ""
        orders = day_orders(self.values)
        clear = orders - {"unclear"}
        order = self.declared.days or (clear.pop() if len(clear) == 1 else "day-first")
        texts = [iso(value, order) for value in self.values if value != EVERYTHING]
        if not texts or not all(map(MOMENTS.read, texts)):
            return None, ""
        if orders == {"unclear"} and self.declared.days is None:
            return None, (
                f"{self.name}: read as text, because day and month are ambiguous "
                f"(--type {self.name}=date:day-first or {self.name}=date:month-first sets the order)"
            )
        remarks = f", {order.replace('-', ' ')}" if any(map(_YEAR_LAST.search, self.values)) else ""
        if as_type == "datetime" or not all(map(DAYS.read, map(without_midnight, texts))):
            return _Typed("datetime", lambda text: iso(text, order), f"{self.name}: dates with times{remarks}"), ""
        return _Typed("date", lambda text: without_midnight(iso(text, order)), f"{self.name}: dates{remarks}"), ""

    def _declared_dates(self, as_type: Type) -> _Typed:
        dates, unclear = self._dates(as_type)
        if unclear:
            raise UnmaskError(
                f"column {self.name!r} has dates whose day and month are ambiguous; declare {as_type}:day-first or "
                f"{as_type}:month-first"
            )
        order = self.declared.days or "day-first"
        return _Typed(as_type, (lambda text: iso(text, order)) if dates is None else dates.to)


def _without_decimals(text: str) -> str:
    """Remove the decimals that a data frame adds to whole numbers if cells are missing."""
    return re.sub(r"\.0+$", "", text)


def _look_like_codes(values: Sequence[str]) -> bool:
    """Return whether texts look like codes: diagnoses such as E11.9, or whole numbers and masks such as `481**`."""
    masks = [value for value in values if value.endswith(EVERYTHING)]
    exact = [value for value in values if not value.endswith(EVERYTHING)]
    prefixes = all(_MASK_PREFIX.fullmatch(mask.rstrip(EVERYTHING)) for mask in masks)
    digits = bool(masks) and all(map(_WHOLE.fullmatch, exact))
    return prefixes and (digits or all(map(_ICD.fullmatch, exact)))
