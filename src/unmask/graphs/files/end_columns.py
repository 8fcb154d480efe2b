"""Recognition of the two columns of a file that contain the ends of an edge, by column names and ids."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data.dialects import DATE, MISSING, NUMBER, Dialect
from unmask.data.readings import Reading, score_header

Ends = tuple[str, str]
"""Columns of the two ends, each given by name or by number from 1."""

MARGIN = 0.05
"""Smallest lead in score of the best reading. Of 150 random files, 3 were misread at 0 and none at 0.05."""

MIN_SHARED_IDS = 0.1  # share of ids in both columns from which on numbers that look like Unix times are ids
_MAX_COLUMNS = 40
_MAX_RIVALS = 4  # in an error message
_WHOLE = re.compile(r"-?\d+(\.0*)?([eE]\+?\d+)?")
_GROUPED = re.compile(r"[1-9]\d{0,2}(\.\d{3})+")
_UNIX_TIME = re.compile(r"1\d{9}(\d{3})?(\.\d+)?")


# --- names of columns -------------------------------------------------------------------------------------------------

_END_PAIRS = frozenset(
    (
        ("source", "target"), ("from", "to"), ("src", "dst"), ("src", "dest"), ("sender", "receiver"), ("l", "r"),
        ("sender", "recipient"), ("caller", "callee"), ("follower", "followee"), ("start", "end"), ("u", "v"),
        ("i", "j"), ("a", "b"), ("1", "2"), ("ego", "alter"), ("who", "whom"), ("head", "tail"), ("left", "right"),
        ("von", "an"), ("von", "nach"),
    )
)  # fmt: skip


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENDS = frozenset(word for pair in _END_PAIRS for word in pair if len(word) > 1)  # a single letter may be an id
_LABELS = _word_set("id ids node vertex user person account name label key")
_PEOPLE = _LABELS | _word_set("""
    friend contact member customer employee manager boss student neighbor neighbour partner colleague actor
    author coauthor follows other patient profile recipient handle people freund kunde
""")
_THINGS = _word_set("""
    item group movie film product event page household hh city town club company organization organisation
    location place venue department team class school community cluster topic hashtag url domain
""")
_ATTRIBUTES = _word_set("""
    time timestamp ts date datetime day week month year hour since when met created weight w strength count n no
    nr calls msgs messages message texts retweets duration dur score similarity distance rating type kind
    relation relationship sign index row edge link tie value rssi lat lon age role note timeset amount number
    freq frequency layer color category probability gewicht datum anzahl
""")
_WEIGHTS = _word_set("weight w count n strength gewicht anzahl")
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[a-zA-Z])(?=\d)|[\W_]+")

WordClass = Literal["people", "thing", "attribute", "unknown"]


def classify_name(name: str) -> WordClass:
    """Classify a column name: people, things or attributes of an edge.

    >>> [classify_name(name) for name in ("user_id", "household_id", "edge_id", "ToNode", "premium")]
    ['people', 'thing', 'attribute', 'people', 'unknown']
    """
    stem = _stem(name)
    if not _ATTRIBUTES.isdisjoint(stem):
        return "attribute"
    if not _THINGS.isdisjoint(stem):
        return "thing"
    return "unknown" if (_PEOPLE | _ENDS).isdisjoint(_words(name)) else "people"


def is_known(name: str) -> bool:
    """Return True if the name is common in files of networks."""
    return classify_name(name) != "unknown"


def are_ends(first: str, second: str) -> bool:
    """Return True if two names differ only in a known pair of words.

    >>> are_ends("from_user", "to_user"), are_ends("playerA", "playerB"), are_ends("user", "friend")
    (True, True, False)
    """
    stems = _stem(first), _stem(second)
    if len(stems[0]) != len(stems[1]):
        return False
    different = [pair for pair in zip(*stems, strict=True) if pair[0] != pair[1]]
    return len(different) == 1 and not _END_PAIRS.isdisjoint((different[0], different[0][::-1]))


def is_weight(name: str) -> bool:
    """Return True if a column name denotes an edge weight; a weight of 0 then means no edge."""
    return bool(words := _words(name)) and _WEIGHTS.issuperset(words)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _SPLIT.split(name) if word]


def _stem(name: str) -> list[str]:
    return [word for word in _words(name) if word not in _LABELS]


# --- readings -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EndColumns:
    """Two columns of a reading, and the terms of their score.

    places  : column positions, from 0
    terms   : name -> score from 0 to 1
    classes : classes of the two names
    numeric : True for each column if its ids are numbers
    n_ids   : distinct ids of the column that has fewer
    """

    reading: Reading
    places: tuple[int, int]
    terms: dict[str, float]
    classes: tuple[str, str] = ("", "")
    numeric: tuple[bool, bool] = (True, True)
    n_ids: int = 0
    doubtful_header: bool = False

    @property
    def score(self) -> float:
        """Weighted mean of the terms and of the terms of the dialect."""
        weights = {"overlap": 0.32, "recur": 0.10, "words": 0.28, "distinct": 0.25, "order": 0.05}
        return 0.45 * self.reading.dialect.score + 0.55 * sum(weights[term] * self.terms[term] for term in weights)

    @property
    def options(self) -> str:
        """The command line options that select these columns."""
        first, second = self.places
        return f"{self.reading.options} --source {first + 1} --target {second + 1}"

    @property
    def names(self) -> tuple[str, str]:
        """Names of the two columns."""
        first, second = self.places
        return self.reading.columns[first], self.reading.columns[second]

    @cached_property
    def fingerprint(self) -> frozenset[tuple[int, int]]:
        """The edges of the sample with ids numbered by first appearance, to compare readings."""
        number: dict[str, int] = {}
        rows = self.reading.dialect.rows[self.reading.header :]
        ends = unify_ids([row[place] for place in self.places for row in rows])
        codes = [
            [number.setdefault(end, len(number)) for end in pair]
            for pair in zip(ends[: len(rows)], ends[len(rows) :], strict=True)
        ]
        return frozenset((min(pair), max(pair)) for pair in codes)


def unify_ids(ids: Sequence[str]) -> list[str]:
    """Return ids with one spelling for each: NFC; 12.0 becomes 12 if all ids are integers.

    >>> unify_ids(["12.0", "7", ""]), unify_ids(["12.0", "1.060"])
    (['12', '7', ''], ['12.0', '1.060'])
    """
    texts = [cell if cell.isascii() else unicodedata.normalize("NFC", cell) for cell in ids]
    filled = [text for text in texts if text.lower() not in MISSING]
    if all(text.lstrip("-").isdecimal() for text in filled) or not all(map(_WHOLE.fullmatch, filled)):
        return texts
    return [text if text.lower() in MISSING else str(int(Decimal(text))) for text in texts]


def choose_ends(
    dialects: Sequence[Dialect], file: str, *, header: bool | None = None, ends: Ends | None = None
) -> EndColumns:
    """Return the best reading of a sample as edge list; raise `AmbiguousInput` if another one is nearly as good.

    header, ends : options given by the user
    """
    fitting = [dialect for dialect in dialects if dialect.terms["agree"] >= 0.5]
    readings = [reading for dialect in fitting for reading in _readings(dialect, header, ends)]
    if ends is None:
        pairs = [pair for reading, doubtful in readings for pair in rank_ends(reading, doubtful_header=doubtful)[:4]]
    else:
        pairs = _pair_given_columns(readings, ends, file)
    if not pairs:
        raise AmbiguousInput(f"no two columns of {file!r} can be the ends of an edge; name them (`source`, `target`)")
    chosen, *further = sorted(pairs, key=lambda pair: -pair.score)
    rivals = _rivals(chosen, further) if ends is None else []
    if rivals:
        scores = ", ".join(f"{pair.score:.2f}" for pair in (chosen, *rivals))
        raise AmbiguousInput(
            f"file {file!r} has {len(rivals) + 1} readings that fit equally well ({scores})",
            [pair.options for pair in (chosen, *rivals)],
        )
    if chosen.doubtful_header and len(chosen.reading.dialect.rows) > 1:
        raise AmbiguousInput(f"the first row of {file!r} may name columns", ["--header", "--no-header"])
    return chosen


def _pair_given_columns(readings: Sequence[tuple[Reading, bool]], ends: Ends, file: str) -> list[EndColumns]:
    """Return the named columns in each reading that contains them."""
    pairs, refusals = [], []
    for reading, doubtful in readings:
        try:
            places = find_columns(_names(reading), ends, file)
        except UnmaskError as refusal:
            refusals.append(refusal)
        else:
            pairs.append(EndColumns(reading, places, _ANY, doubtful_header=doubtful))
    if refusals and not pairs:
        raise refusals[0]
    return pairs


_ANY = dict.fromkeys(("overlap", "recur", "words", "distinct", "order"), 1.0)
"""Terms for columns that the user named."""


def _names(reading: Reading) -> Sequence[str]:
    return reading.names or reading.dialect.rows[0]


def find_columns(names: Sequence[str], ends: Ends, file: str) -> tuple[int, int]:
    """Return the positions of columns given by name (case-insensitive) or by number from 1.

    >>> find_columns(["when", "Who", "contact"], ("who", "3"), "it")
    (1, 2)
    """
    places = [_find_column(names, end, file) for end in ends]
    if places[0] == places[1]:
        raise UnmaskError("one column is given twice, expected two columns: one for each end of an edge")
    return places[0], places[1]


def _find_column(names: Sequence[str], end: str, file: str) -> int:
    lower = [name.lower() for name in names]
    place = int(end[:9]) - 1 if end.isdecimal() else lower.index(end.lower()) if end.lower() in lower else -1
    if not 0 <= place < len(names):
        raise UnmaskError(
            f"column {end!r} is not in the first line of {file!r}, which has {len(names)}; give its name there, or its "
            "number from 1"
        )
    return place


def _readings(dialect: Dialect, header: bool | None, ends: Ends | None) -> list[tuple[Reading, bool]]:
    """Return the dialect with and without header, as far as the odds of a header allow, and True if both are
    possible.
    """
    if header is None and ends is not None and not dialect.names:
        header = True if any(not end.isdecimal() for end in ends) else None
    odds, all_known = score_header(dialect.rows, is_known, pooled=True)
    is_header = odds >= 4 or (all_known and odds > 0)
    headers = [header] if header is not None else [True] if is_header else [False] if odds <= -2 else [True, False]
    names = dialect.names if len(headers) == 1 else ()
    return [
        (Reading(dialect, is_header, dialect.rows[0] if is_header else names), len(headers) > 1)
        for is_header in headers
    ]


def _rivals(chosen: EndColumns, further: Iterable[EndColumns]) -> list[EndColumns]:
    """Return other readings that may be right: those within the margin of the best score.

    If no column name denotes people, readings with five times as many ids, or with names, are included. More ids count
    only if at least half of the rows of the best reading are repetitions. Names count only if the ids of the best
    reading are numbers.
    """
    by_words = chosen.terms["words"] == 1.0
    repeats = 2 * len(chosen.fingerprint) <= len(chosen.reading.dialect.rows)  # typical of columns with few numbers
    rivals: list[EndColumns] = []
    prints = {chosen.fingerprint}
    for pair in further:
        is_same_reading = pair.reading == chosen.reading
        by_names = by_words and is_same_reading and pair.terms["words"] < 0.9
        is_near = chosen.score - pair.score < MARGIN and not by_names
        has_more_ids = (
            is_same_reading
            and chosen.terms["words"] < 0.9
            and pair.terms["overlap"] >= 0.1
            and pair.n_ids > (1 if repeats else 5) * chosen.n_ids
        )
        are_names = (  # two columns of years overlap as much as two columns of people
            is_same_reading
            and chosen.terms["words"] < 0.9
            and pair.terms["overlap"] >= 0.1
            and all(chosen.numeric)
            and not any(pair.numeric)
        )
        is_rival = is_near or has_more_ids or are_names
        if is_rival and pair.fingerprint not in prints and len(rivals) < _MAX_RIVALS:
            rivals.append(pair)
            prints.add(pair.fingerprint)
    return rivals


# --- the scores of pairs of columns -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    cells: tuple[str, ...]
    name: str | None
    ids: Counter[str]
    n_filled: int
    numeric: bool
    is_end: bool
    is_time: bool


def rank_ends(reading: Reading, *, doubtful_header: bool = False) -> list[EndColumns]:
    """Return the pairs of columns that may be the ends of an edge, best first; two times only if they lead clearly."""
    names = reading.names or (None,) * reading.dialect.width
    columns = [
        _column(cells, name, n_columns=reading.dialect.width)
        for cells, name in zip(
            list(zip(*reading.dialect.rows[reading.header :], strict=True))[:_MAX_COLUMNS], names, strict=False
        )
    ]
    largest = max((len(column.ids) for column in columns if column.is_end), default=1)
    pairs = [
        _score_pair(reading, columns, (i, j), largest, doubtful_header)
        for i, j in combinations(range(len(columns)), 2)
        if _may_be_ends(columns[i], columns[j], len(columns))
    ]
    best = max((pair.score for pair in pairs if not columns[pair.places[0]].is_time), default=-np.inf)
    likely = [pair for pair in pairs if not columns[pair.places[0]].is_time or pair.score > best + MARGIN]
    return sorted(likely, key=lambda pair: -pair.score)


def _score_pair(
    reading: Reading, columns: Sequence[_Column], places: tuple[int, int], largest: int, doubtful_header: bool
) -> EndColumns:
    first, second = (columns[place] for place in places)
    joint, n_ids = first.ids + second.ids, min(len(first.ids), len(second.ids))
    single = sum(count == 1 for count in joint.values())
    terms = {
        "overlap": len(first.ids.keys() & second.ids.keys()) / float(np.sqrt(len(joint) * n_ids)),
        "recur": 1 - single / joint.total(),
        "words": _score_names(first, second),
        "distinct": min(1.0, float(np.log1p(n_ids) / np.log1p(largest))),
        "order": 1.0 if places == (0, 1) else 0.8 if places[1] == places[0] + 1 else 0.5,
    }
    return EndColumns(
        reading, places, terms, _classes(first, second), (first.numeric, second.numeric), n_ids, doubtful_header
    )


def _column(cells: tuple[str, ...], name: str | None, *, n_columns: int) -> _Column:
    filled = [cell for cell in cells if cell.lower() not in MISSING]
    numeric = bool(filled) and all(map(NUMBER.fullmatch, filled))
    decimal = numeric and not all(map(_WHOLE.fullmatch, filled))
    grouped = decimal and (n_columns == 2 or name is not None) and all(map(_GROUPED.fullmatch, filled))
    dated = bool(filled) and all(map(DATE.fullmatch, filled))
    timed = numeric and len(filled) > 3 and all(map(_UNIX_TIME.fullmatch, filled))
    is_end = bool(filled) and not ((decimal and not grouped) or dated) and len(filled) >= 0.5 * len(cells)
    return _Column(cells, name, Counter(unify_ids(filled)), len(filled), numeric, is_end, timed)


def _may_be_ends(first: _Column, second: _Column, n_columns: int) -> bool:
    """Return True if two columns may be ends: neither constant nor mostly equal, not two counters or two times."""
    n, n_shared = len(first.cells), len(first.ids.keys() & second.ids.keys())
    if not (first.is_end and second.is_end) or first.is_time != second.is_time:
        return False
    if first.is_time and n_shared < MIN_SHARED_IDS * min(len(first.ids), len(second.ids)):
        return False
    if n <= 3 or n_columns == 2 or are_ends(first.name or "", second.name or ""):
        return True
    n_equal = sum(a == b for a, b in zip(first.cells, second.cells, strict=True))
    is_distinct = len(first.ids) == first.n_filled and len(second.ids) == second.n_filled
    are_counters = is_distinct and first.numeric and second.numeric and n_shared > 0.5 * n
    return min(len(first.ids), len(second.ids)) > 1 and n_equal <= 0.5 * n and not are_counters


def _classes(first: _Column, second: _Column) -> tuple[str, str]:
    return classify_name(first.name or ""), classify_name(second.name or "")


def _score_names(first: _Column, second: _Column) -> float:
    """Return the score of two names: 1 for a known pair, 0.5 without names, 0 for an attribute."""
    if first.name is None or second.name is None:
        return 0.5
    classes = _classes(first, second)
    if are_ends(first.name, second.name):
        return 1.0
    if "attribute" in classes:
        return 0.0
    return 0.9 if classes == ("people", "people") else 0.3 if "thing" in classes else 0.6
