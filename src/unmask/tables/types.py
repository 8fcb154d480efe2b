"""Types of columns, declared or recognized from their texts, and the texts in the notation of the type.

Texts that can be read in two ways are not guessed at: a sentence says so, and how to say which it is. Nothing here
depends on the order of the rows.
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

from unmask.core.errors import UnmaskError, nearest
from unmask.data.column_names import design_role, number_kind
from unmask.tables.dates import DAYS, MOMENTS, DayOrder, day_orders, iso, without_midnight
from unmask.tables.levels import KIND, Type
from unmask.tables.notation import EVERYTHING
from unmask.tables.number_formats import Decimal, decimal_of, plain, thousands
from unmask.tables.plain_cells import PlainForm, form_of, values_of
from unmask.tables.scales import NUMBERS
from unmask.tables.unit import key_rank

if TYPE_CHECKING:
    from unmask.tables.coding import Encoded
    from unmask.tables.column import Column
    from unmask.tables.hierarchy import Hierarchy

MISSING_CODES = frozenset({"NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "?"})
"""Texts that stand for a missing cell unless `na` says otherwise."""

MISSING_NUMBERS = frozenset(
    {"-", "--", ".", "None", "none", "na", "n.a.", "k.A.", "k. A.", "unknown", "Unknown", "unbekannt", "Unbekannt"}
)
"""Texts that do so among numbers and dates; elsewhere they may be a value, such as no diagnosis."""

FEW_CODES, ROWS_OF_CODE = 12, 20
"""Different whole numbers below 100, and rows of each on average, that are taken for the codes of categories."""

_DESIGN = ("household", "stratum", "cluster", "flag")
_NAMING = re.compile(r"[0-9]+(?:\.0+)?")
_WHOLE = re.compile(r"[0-9]+")
_ICD = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?")
_SHOWN = re.compile(r"[0-9A-Za-z][0-9A-Za-z./-]*")
_MONTH = re.compile(r"[0-9]{4}-(?:Q[1-4]|[0-9]{2}(?![0-9]))")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])|^\*$")
_YEAR_LAST = re.compile(r"[0-9][./-][0-9]{4}(?![0-9])")
_THREE_DECIMALS = re.compile(r"\.[0-9]{3}$", re.MULTILINE)
_LEADING_ZERO = re.compile(r"(?<![0-9.])0[0-9]")


@dataclass(frozen=True)
class Declared:
    """Declared properties of the cells of one column; None is recognized, see `recognized`.

    type : its type. days : what stands first in a date such as 03/04/1970. order : the values of an ordinal column.
    like : a column of another table whose type this one has where its texts allow it.
    """

    type: Type | None = None
    days: DayOrder | None = None
    order: Sequence[str] | None = None
    hierarchy: Hierarchy | None = None
    like: Column | None = None


def parse_type(column: str, text: str) -> tuple[Type, DayOrder | None]:
    """Parse a type as a user writes it: its name, for dates with `:day-first` or `:month-first`.

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
    """A column: its type, its distinct texts in the notation of the type (None: missing), and notes for the user."""

    type: Type
    texts: tuple[str | None, ...]
    notes: tuple[str, ...]


def recognized(
    columns: Mapping[str, Encoded],
    declared: Mapping[str, Declared],
    *,
    na: Sequence[str] | None = None,
    decimal: Decimal | None = None,
) -> dict[str, Recognized]:
    """Recognize the type of every column, and return its texts in one notation.

    na : texts that stand for a missing cell; None takes `MISSING_CODES`, except where a column's order or hierarchy has
        them as values. Unless it is empty (`()` or `''`), `MISSING_NUMBERS` do so, too, among numbers and dates.
        Texts are compared in Unicode's form NFC.
    decimal : the mark before decimals; None finds it in each column. Where both marks fit a column, it has that of the
        other columns of the table, or a point.

    A type that is not said is found by the content, alike for files and frames: "ordinal" where an order is given,
    "text" where a hierarchy is; "number" where every text is a number or an interval and none loses digits as one (a
    leading zero, 16 digits), unless whole numbers name something: by the column's name, or because few different ones
    stand for many rows; "date" or "datetime" where every text is one, and not each only a year; "code" for other whole
    numbers, for diagnoses such as E11.9, and for masks such as `481**`; else "text".
    """
    if decimal not in (None, *get_args(Decimal)):
        raise UnmaskError(f"decimal is {decimal!r}, expected '.' or ','")
    by_name = {name: _Column.of(name, column, declared[name], na) for name, column in columns.items()}
    marks = {name: decimal or column.mark for name, column in by_name.items()}
    common_mark: Decimal = "," if {mark for mark in marks.values() if mark in (".", ",")} == {","} else "."
    typed = {name: column.typed(marks[name], common_mark) for name, column in by_name.items()}
    return {name: column.recognized(typed[name]) for name, column in by_name.items()}


class _Typed(NamedTuple):
    """A type, how a text becomes one of its notation, and a note."""

    type: Type
    to: Callable[[str], str]
    note: str = ""


@dataclass(frozen=True, eq=False)
class _Column:
    """The distinct texts of a column.

    missing_codes : texts that are missing cells. missing_numbers : texts that are missing cells among numbers.
    """

    name: str
    texts: tuple[str | None, ...]
    rows: Sequence[int]
    n_rows: int
    declared: Declared
    missing_codes: frozenset[str]
    missing_numbers: frozenset[str]

    @classmethod
    def of(cls, name: str, encoded: Encoded, declared: Declared, na: Sequence[str] | None) -> _Column:
        """Collect the texts of a column; na : texts of missing cells, None for the common ones except own values."""
        texts = tuple(None if text is None else unicodedata.normalize("NFC", text) for text in encoded.texts)
        rows = np.bincount(encoded.codes, encoded.row_counts, len(texts)).astype(np.int64).tolist()
        values = {*(declared.order or ()), *(declared.hierarchy.nodes if declared.hierarchy else ())}
        missing_texts = MISSING_CODES - values if na is None else frozenset(na)
        missing_numbers = MISSING_NUMBERS - values if missing_texts - {""} else frozenset[str]()
        return cls(name, texts, rows, sum(rows), declared, missing_texts, missing_numbers)

    @cached_property
    def values(self) -> list[str]:
        """The texts that are no missing cells if the column is one of numbers."""
        missing_texts = {None, *self.missing_codes, *self.missing_numbers}
        return [text for text in self.texts if text not in missing_texts and text]

    @cached_property
    def plain_form(self) -> PlainForm | None:
        """Form of all values if it is a plain one; three decimals may be a group of thousands."""
        form = form_of(self.values)
        if form == "decimal" and _THREE_DECIMALS.search("\n".join(self.values)):
            return None
        return None if form and values_of(self.values, form) is None else form

    @cached_property
    def mark(self) -> str | None:
        """Return the decimal mark, see `decimal_of`; None for a column that is declared to hold other values."""
        guessed = self.declared.type is None and self.declared.order is None and self.declared.hierarchy is None
        if guessed and self.plain_form is not None:
            return {"whole": "", "decimal": ".", "span": ""}.get(self.plain_form)
        return decimal_of(self.values) if guessed or self.declared.type == "number" else None

    def recognized(self, typed: _Typed) -> Recognized:
        """Return the texts in the notation of the type."""
        missing_texts = (
            self.missing_codes | self.missing_numbers if KIND[typed.type] == "numeric" else self.missing_codes
        )
        texts = tuple(None if text is None or text in missing_texts else typed.to(text) for text in self.texts)
        return Recognized(typed.type, texts, tuple(filter(None, (typed.note, self._missing(missing_texts)))))

    def _missing(self, missing_texts: frozenset[str]) -> str:
        missing_rows = {text: rows for text, rows in zip(self.texts, self.rows, strict=True) if text in missing_texts}
        if not missing_rows:
            return ""
        codes, number = ", ".join(f"'{code}'" for code in sorted(missing_rows)), sum(missing_rows.values())
        changes = "--na changes that" if self.missing_codes.issuperset(missing_rows) else self._type_option("text")
        return f"{self.name}: {number:,} cell{'s' * (number > 1)} {codes} read as missing ({changes})"

    # ----- types

    def typed(self, mark: str | None, common_mark: Decimal) -> _Typed:
        """Return the declared type, that of the like column if it fits, or the first that fits."""
        if self.declared.type is not None:
            return self._declared_type(self.declared.type, mark, common_mark)
        if self.declared.order is not None or self.declared.hierarchy is not None:
            return _Typed("ordinal" if self.declared.order is not None else "text", str)
        like = None if self.declared.like is None else self._like(self.declared.like.type, mark, common_mark)
        return like or self._guessed(mark, common_mark)

    def _declared_type(self, as_type: Type, mark: str | None, common_mark: Decimal) -> _Typed:
        if as_type == "number":
            return self._number(mark, common_mark)
        if as_type in ("date", "datetime"):
            return self._declared_dates(as_type)
        return _Typed(as_type, str)

    def _like(self, as_type: Type, mark: str | None, common_mark: Decimal) -> _Typed | None:
        if as_type == "number":
            number = self._number(mark, common_mark)._replace(note="")
            fits = self._are_numbers(mark) or all(NUMBERS.read(number.to(value)) for value in self.values)
            return number if fits else None
        if as_type in ("date", "datetime"):
            dates, _ = self._dates(as_type)
            return dates and dates._replace(note="")
        return _Typed(as_type, _without_decimals if all(map(_NAMING.fullmatch, self.values)) else str)

    def _guessed(self, mark: str | None, common_mark: Decimal) -> _Typed:
        exact = [value for value in self.values if value != EVERYTHING]
        digits = bool(exact) and all(map(_WHOLE.fullmatch, exact))
        if mark is not None and self._keeps_digits(number := self._number(mark, common_mark), mark):
            reason = self._naming(exact)
            return (
                _Typed("code", _without_decimals, f"{self.name}: {reason} ({self._type_option('number')})")
                if reason
                else number
            )
        dates, unclear = self._dates()
        if dates is not None and any(_MONTH.search(dates.to(value)) for value in self.values):
            return dates
        note = self._mixed if mark == "mixed" else unclear
        if not note and exact and (digits or _coded(exact)):
            return _Typed("code", str, f"{self.name}: a code ({self._type_option('text')})")
        return _Typed("text", str, note)

    def _naming(self, values: Sequence[str]) -> str:
        """Why whole numbers name something; "" if they count or measure."""
        kind, n = number_kind(self.name), len(values)
        if kind == "quantity" or not all(map(_NAMING.fullmatch, values)):
            return ""
        if kind == "code" or design_role(self.name) in _DESIGN or key_rank(self.name, n, identifies=False):
            return "whole numbers, a code by the column's name"
        largest = max(map(float, values))
        if n <= FEW_CODES and largest < 100 and self.n_rows >= ROWS_OF_CODE * n:
            return f"{n} different whole numbers, taken for a code"
        return ""

    def _type_option(self, text: str) -> str:
        return f"--type {quote(f'{self.name}={text}')} changes that"

    # ----- numbers

    @property
    def _mixed(self) -> str:
        return f"{self.name}: decimal points and decimal commas are mixed, so it is text (--decimal says which it has)"

    def _are_numbers(self, mark: str | None) -> bool:
        """Return True if all values are plain numbers or spans with this decimal mark."""
        return self.plain_form in ("whole", "span") or (self.plain_form == "decimal" and mark == ".")

    def _number(self, mark: str | None, common_mark: Decimal) -> _Typed:
        decimal: Decimal = cast("Decimal", mark) if mark in (".", ",") else common_mark
        marks = "" if self._are_numbers(decimal) else thousands(self.values, decimal)
        name, other_name = ("point", "comma") if decimal == "." else ("comma", "point")
        remarks = [f"decimal {name}"] if decimal == "," and mark != "" else []
        remarks += [f"{marks} between thousands"] if marks else []
        if mark == "either":
            remarks = [f"read with a decimal {name}, a decimal {other_name} fits as well (--decimal says which it is)"]
        note = f"{self.name}: {', '.join(remarks)}" if remarks else ""
        return _Typed("number", str if self._are_numbers(decimal) else lambda text: plain(text, decimal), note)

    def _keeps_digits(self, number: _Typed, mark: str) -> bool:
        """Return True if there are numbers, and none loses digits as a number, like postcodes and long identifiers."""
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
        """Return dates or moments if all values are, or why they are ambiguous. as_type : moments, even at midnight."""
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
                f"{self.name}: day and month are ambiguous, so it is text "
                f"(--type {self.name}=date:day-first or {self.name}=date:month-first says which)"
            )
        remarks = f", {order.replace('-', ' ')}" if any(map(_YEAR_LAST.search, self.values)) else ""
        if as_type == "datetime" or not all(map(DAYS.read, map(without_midnight, texts))):
            return _Typed("datetime", lambda text: iso(text, order), f"{self.name}: dates with times{remarks}"), ""
        return _Typed("date", lambda text: without_midnight(iso(text, order)), f"{self.name}: dates{remarks}"), ""

    def _declared_dates(self, as_type: Type) -> _Typed:
        dates, unclear = self._dates(as_type)
        if unclear:
            raise UnmaskError(
                f"column {self.name!r} has dates whose day and month are ambiguous; say {as_type}:day-first or "
                f"{as_type}:month-first"
            )
        order = self.declared.days or "day-first"
        return _Typed(as_type, (lambda text: iso(text, order)) if dates is None else dates.to)


def _without_decimals(text: str) -> str:
    """Remove the decimals that a frame adds to whole numbers if cells are missing."""
    return re.sub(r"\.0+$", "", text)


def _coded(values: Sequence[str]) -> bool:
    """Return True if texts look like codes: diagnoses such as E11.9, or whole numbers and masks such as `481**`."""
    masks = [value for value in values if value.endswith(EVERYTHING)]
    exact = [value for value in values if not value.endswith(EVERYTHING)]
    prefixes = all(_SHOWN.fullmatch(mask.rstrip(EVERYTHING)) for mask in masks)
    digits = bool(masks) and all(map(_WHOLE.fullmatch, exact))
    return prefixes and (digits or all(map(_ICD.fullmatch, exact)))
