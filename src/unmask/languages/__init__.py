"""Texts and numbers in the language of the reader: German, French and Spanish catalogs of the English messages.

Code marks a message where it is written, with fields in braces, and the catalogs translate it:

>>> with use_language("de"):
...     gettext("{n} of {total} attacks on releases finished", n=2, total=3000)
'2 von 3.000 Angriffen auf Veröffentlichungen beendet'

Texts that an audit wrote in English are translated by `retranslate`, which recognizes messages by their words.
`tests/render_catalogs.py` collects the messages and compiles the catalogs: those in calls of the functions below, and
the sentences of the functions that it lists.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, translation
from pathlib import Path
from typing import Literal, NamedTuple, get_args

Language = Literal["en", "de", "fr", "es"]

LANGUAGES: tuple[Language, ...] = get_args(Language)
"""Languages of certificates, first screens and the app."""

_active: ContextVar[Language] = ContextVar("language", default="en")


class Separators(NamedTuple):
    """Separators of numbers: decimals, thousands, and the digits from which thousands are separated."""

    decimal: str
    thousands: str
    min_digits: int = 4


SEPARATORS: dict[Language, Separators] = {
    "en": Separators(".", ","),
    "de": Separators(",", "."),
    "fr": Separators(",", "\u202f"),
    "es": Separators(",", "\u202f", 5),
}

QUOTES: dict[Language, tuple[str, str]] = {
    "en": ("\u201c", "\u201d"),
    "de": ("\u201e", "\u201c"),
    "fr": ("\u00ab\u00a0", "\u00a0\u00bb"),
    "es": ("\u00ab", "\u00bb"),
}
"""Quotation marks before and after a name."""

NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,]|\.\d)|(?<![\w.,])\d+\.\d+(?![\w,]|\.\d)")
"""English number with a separator; not a version, a name or a date."""

INTERVAL = re.compile(r"\[(<?[\d.,]+), (>?[\d.,]+)\]")
"""Interval of numbers in English."""

MIN_LETTERS = 7
"""Letters of a message by which it is recognized in an English text; shorter ones occur in other texts."""

MAX_LENGTH = 1_000
"""Characters of a recognized sentence. The time grows with a power of them, and a document may contain any text."""

SHARE = r"(?:[^A-Za-z]|\bto\b)+?"
"""Field `share`: a share in percent, or two shares."""

SHORT_MESSAGES = ("no. {n}", "off by {value}", "now {value}")
"""Shorter messages that are recognized by their first words."""

NUMERIC_MESSAGES = ("{low} to {high}", "{n} edges", "{n}, median {median}", "of {people}", "level {level}", "{n} areas")
"""Shorter messages that are recognized if their fields have no letters."""

FIELD = re.compile(r"\{\w+\}")
"""Field of a message."""

SEPARATOR = re.compile("; |, | and ")
"""Separator of the items of a list."""

RELEASE = re.compile(r"[\w=.+-]+|\u201c[^\u201d]*\u201d")
"""Name of a release in a sentence."""

SENTENCE_END = re.compile(r"(?<=[.!?])(?<! al[.]) (?=[A-Z\u201c\d])")
"""Space between two sentences."""


@contextmanager
def use_language(language: Language) -> Iterator[None]:
    """Translate messages and format numbers in a language within the context."""
    token = _active.set(language)
    try:
        yield
    finally:
        _active.reset(token)


def active_language() -> Language:
    """Return the language of messages and numbers."""
    return _active.get()


def choose_language(accepted: str) -> Language:
    """Return the first language of an Accept-Language header that has a catalog; English without one.

    >>> choose_language("pt;q=0.9, fr-CH;q=0.8, en;q=0.5"), choose_language("")
    ('fr', 'en')
    """
    weighted = []
    for position, part in enumerate(accepted.split(",")):
        name, _, parameter = part.strip().partition(";")
        quality = parameter.strip().removeprefix("q=")
        weight = float(quality) if re.fullmatch(r"[01](\.\d{0,3})?", quality) else 1.0
        weighted.append((-weight, position, name.partition("-")[0].lower()))
    names = [name for _, _, name in sorted(weighted)]
    return next((language for name in names for language in LANGUAGES if language == name), "en")


# --- messages --------------------------------------------------------------------------------------------------------


def gettext(message: str, /, **fields: object) -> str:
    """Return a message in the active language, with its fields; whole numbers get separators."""
    language = active_language()
    text = message if language == "en" or not message else _read_catalog(language).gettext(message)
    return text.format(**_format_fields(fields)) if fields else text


def ngettext(singular: str, plural: str, n: int, /, **fields: object) -> str:
    """Return the form of a message for a number, which is its field `n`."""
    language = active_language()
    text = (
        (singular if n == 1 else plural) if language == "en" else _read_catalog(language).ngettext(singular, plural, n)
    )
    return text.format(**_format_fields({"n": n, **fields}))


def mark(message: str) -> str:
    """Return a message unchanged: it is collected for the catalogs, and translated where it is used."""
    return message


def _format_fields(fields: dict[str, object]) -> dict[str, object]:
    return {
        name: group(value) if type(value) is int else _localize_quotes(value) if isinstance(value, str) else value
        for name, value in fields.items()
    }


def _localize_quotes(text: str) -> str:
    """Return a text with the quotation marks of the active language."""
    start, end = QUOTES[active_language()]
    return re.sub("\u201c([^\u201d]*)\u201d", rf"{start}\1{end}", text)


@cache
def _read_catalog(language: Language) -> GNUTranslations:
    return translation("unmask", Path(__file__).parent, [language])


# --- numbers ---------------------------------------------------------------------------------------------------------


def group(count: int) -> str:
    """Return a whole number with the separators of the active language.

    >>> with use_language("fr"):
    ...     group(12000)
    '12\u202f000'
    """
    return localize(f"{count:,}")


def localize(text: str) -> str:
    """Return a text in which numbers with English separators have those of the active language.

    >>> with use_language("es"):
    ...     localize("4.5 of 2,000 and 12,000")
    '4,5 of 2000 and 12\u202f000'
    """
    language = active_language()
    return text if language == "en" else NUMBER.sub(lambda found: _localize_number(found[0], language), text)


def _localize_number(number: str, language: Language) -> str:
    separators = SEPARATORS[language]
    integer, point, decimals = number.partition(".")
    is_grouped = len(integer.replace(",", "")) >= separators.min_digits
    integer = integer.replace(",", separators.thousands if is_grouped else "")
    return integer + (separators.decimal + decimals if point else "")


# --- texts written in English ----------------------------------------------------------------------------------------


def retranslate(text: str) -> str:
    """Return a text that was written in English, in the active language; unchanged if no message has its words.

    The message with most words of its own is taken. Fields, several sentences and the items of a list are translated
    in turn. Messages with plurals are not recognized.
    """
    language = active_language()
    if language == "en" or not text:
        return text
    if (translated := _recognize(text, language)) is not None:
        return translated
    if len(sentences := SENTENCE_END.split(text)) > 1:
        return " ".join(map(retranslate, sentences))
    interval = gettext("[{low}, {high}]").format(low=r"\1", high=r"\2")
    return localize(INTERVAL.sub(interval, _localize_quotes(text)))


def _recognize_list(text: str, language: Language) -> str | None:
    """Return the translation of a list such as "a fine and a price"; None if an item is no message and no name."""
    no_names, no_parts = dict.fromkeys(("names", "last"), ""), dict.fromkeys(("success", "guessing"), "")
    separators = {
        " and ": gettext("{names} and {last}", **no_names),
        "; ": gettext("{success}; {guessing}", **no_parts),
    }
    for expression in ("; ", ", | and "):
        items, between = re.split(expression, text), re.findall(expression, text)
        translated = [_recognize(item, language) for item in items] if between else []
        if any(translated) and all(
            map(RELEASE.fullmatch, itertools.compress(items, (not text for text in translated)))
        ):
            words = [text or _localize_quotes(item) for text, item in zip(translated, items, strict=True)]
            ends = [separators.get(separator, separator) for separator in between]
            return "".join(map("".join, itertools.zip_longest(words, ends, fillvalue="")))
    return None


def _recognize(text: str, language: Language) -> str | None:
    """Return the translation of an English text; None if no message has its words, or if it is too long."""
    if not text or len(text) > MAX_LENGTH:  # the catalog's entry of an empty message is its header
        return None
    translated = _recognize_exactly(text, language)
    if translated is None and text[:1].isupper():
        translated = _recognize_exactly(text[0].lower() + text[1:], language)
        return translated and translated[0].upper() + translated[1:]
    return translated


def _recognize_exactly(text: str, language: Language) -> str | None:
    """Return the translation of an English text whose first letter is that of the message."""
    catalog = _read_catalog(language)
    if (translated := catalog.gettext(text)) != text:
        return translated
    for message, expression in _list_patterns(language):
        if found := expression.fullmatch(text):
            has_list = any(SEPARATOR.search(value) for value in found.groupdict().values())
            if has_list and (as_list := _recognize_list(text, language)) is not None:
                return as_list
            fields = {name: _retranslate_field(name, value) for name, value in found.groupdict().items()}
            return catalog.gettext(message).format(**fields)
    return _recognize_list(text, language)


@cache
def _list_patterns(language: Language) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the messages with fields and the expressions that recognize them, most words of their own first."""
    messages = [entry for entry in vars(_read_catalog(language))["_catalog"] if isinstance(entry, str)]
    with_fields = [message for message in messages if FIELD.search(message) and _is_recognized(message)]
    ordered = sorted(with_fields, key=lambda message: -len(FIELD.sub("", message)))
    return tuple((message, _compile(message)) for message in ordered)


def _retranslate_field(name: str, value: str) -> str:
    """Return a field of a message that was written in English; of a list of columns only the last "and" is a word."""
    if name != "columns":
        return retranslate(value)
    names, _, last = value.rpartition(" and ")
    return gettext("{names} and {last}", names=names, last=last) if names else value


def _is_recognized(message: str) -> bool:
    """Return whether a message has enough letters without its fields, or is one of `SHORT_MESSAGES`."""
    return message in SHORT_MESSAGES + NUMERIC_MESSAGES or sum(map(str.isalpha, FIELD.sub("", message))) >= MIN_LETTERS


def _compile(message: str) -> re.Pattern[str]:
    """Return an expression that finds the fields of a message."""
    text = r"[^A-Za-z]+?" if message in NUMERIC_MESSAGES else rf"(?:(?!{SENTENCE_END.pattern}).)+?"
    seen: set[str] = set()
    parts = []
    for part in re.split(r"(\{\w+\})", message):
        name = part[1:-1]
        if not part.startswith("{"):
            parts.append(re.escape(part))
        else:
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{SHARE if name == 'share' else text})")
            seen.add(name)
    return re.compile("".join(parts), re.DOTALL)
