"""The refusal of a file that can be read in more than one way."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.core.errors import UnmaskError


class AmbiguousInput(UnmaskError):  # noqa: N818  # an outcome of reading that callers offer as a choice
    """A file with two readings, or with lines that the best reading does not explain.

    options : command line options, each of which selects one reading
    """

    def __init__(self, question: str, options: Sequence[str] = ()) -> None:
        self.options = tuple(options)
        super().__init__(question + (f"; choose one: {' | '.join(self.options)}" if self.options else ""))
