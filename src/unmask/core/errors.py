"""Exceptions of unmask: the root is a `ValueError`; one subclass has its own exit code on the command line."""

import unicodedata
from collections.abc import Sequence

UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that are invisible, or that change the order of visible ones."""


def visible(text: str) -> str:
    r"""Return a line of text with invisible characters, such as control characters and direction marks, escaped.

    >>> print(visible("\u202eega\x1b[1m"), visible("\u00e2ge"))
    \u202eega\x1b[1m âge
    """
    if text.isprintable():
        return text
    unseen = {character for character in set(text) if unicodedata.category(character) in UNSEEN}
    return text.translate({ord(character): character.encode("unicode_escape").decode() for character in unseen})


class UnmaskError(ValueError):
    """Wrong use: an argument, a column or a cell is not as expected.

    The message has one or two sentences: what was given, what was expected, and the next step. It names columns, row
    numbers and counts, never the content of a record. The command line exits with `exit_code`.
    """

    exit_code = 2

    def __str__(self) -> str:
        return visible(super().__str__())


class FailedError(UnmaskError):
    """The request was valid, but it failed: a file cannot be read or written, or a protection has no solution."""

    exit_code = 1


class NotRunError(UnmaskError):
    """The request does not apply to its object. Nothing failed, and other values would not help."""


class AmbiguousInput(UnmaskError):  # noqa: N818  # an outcome of reading that callers offer as a choice
    """A file with two readings, or with lines that do not fit the best reading.

    Parameters
    ----------
    question : str
        Sentence without a final period.
    options : sequence of str
        Command line options, each of which selects one reading.
    """

    def __init__(self, question: str, options: Sequence[str] = ()) -> None:
        self.options = tuple(options)
        super().__init__(question + (f"; choose one: {' | '.join(self.options)}" if self.options else ""))


def explain_unknown(key: str, names: Sequence[str], place: str) -> str:
    """Return a sentence about an unknown key, with the nearest known one."""
    return f"{place} has a key {key!r} that does not exist; {nearest(key, names)}"


def nearest(name: object, options: Sequence[str]) -> str:
    """Return a hint for an unknown name: the nearest known name, or all of them.

    >>> nearest("degre", ("none", "degree")), nearest(7, ("none", "degree"))
    ("did you mean 'degree'?", 'expected one of none, degree')
    """
    from difflib import get_close_matches

    near = get_close_matches(name, options, n=1) if isinstance(name, str) else []
    if near:
        return f"did you mean {near[0]!r}?"
    return f"expected one of {', '.join(options)}" if options else "expected none"
