"""The lines by which a text file is judged: the first ones, and windows over the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from unmask.core.errors import UnmaskError
from unmask.data.ambiguity import AmbiguousInput
from unmask.data.encodings import TextFile, open_binary

FIRST_LINES, N_WINDOWS, WINDOW_LINES = 2000, 40, 25

MARKS = "#|%|//|;"
"""How comments begin; after a semicolon stands a blank."""

_FIRST_BYTES, _LONGEST_LINE = 1 << 18, 1 << 24
_COMMENT = re.compile(r"\s*(#|%|//|;\s|sep=.\s*$)")  # the last one is a line that spreadsheets write
_TRIMS = {
    "brackets around each line are ignored": re.compile(r"\s*[(\[]([^()\[\]]*)[)\]],?\s*"),
    "attributes in braces are left out": re.compile(r"(.*?)[\s,;]*\{[^{}]*\}\s*"),
}


@dataclass(frozen=True)
class Sample:
    """The start of a text file without the comments above its first row.

    comments : lines above the first row that begin with a mark
    n_above  : lines above the first row: skipped ones, comments and blank ones
    skipped  : lines that the user skips
    lines    : the first rows, a header included
    windows  : rows further down, for scores only
    comment  : the mark of comments that the user gave
    trim     : what is cut from each line before it is split; its first group stays
    note     : a sentence for what is cut
    """

    file: TextFile
    comments: tuple[str, ...]
    n_above: int
    skipped: int
    lines: tuple[str, ...]
    windows: tuple[str, ...] = ()
    comment: str | None = None
    trim: re.Pattern[str] | None = None
    note: str = ""


def read_sample(file: TextFile, *, skip_lines: int = 0, comment: str | None = None, trim: bool = True) -> Sample:
    """Read the first lines of a file and 40 windows over the rest, with the comments on top split off.

    comment : the mark of comments, also of those below the first row; "none": no line is a comment; None: recognized
        above the first row, and no line below it is one
    trim    : cut brackets around lines and attributes at their ends
    """
    with open_binary(file.path) as stream:
        start = stream.read(_FIRST_BYTES) + stream.readline(_LONGEST_LINE)
        first = b"".join(start.splitlines(keepends=True)[: skip_lines + FIRST_LINES])
        lines = first.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")[skip_lines:]
        windows: list[str] = []
        if len(first) < file.n_bytes and not any(line.count('"') % 2 for line in lines):
            for window in range(N_WINDOWS):
                stream.seek(len(first) + (file.n_bytes - len(first)) * window // N_WINDOWS)
                stream.readline(_LONGEST_LINE)
                more = (stream.readline(_LONGEST_LINE).decode("utf-8", "replace") for _ in range(WINDOW_LINES))
                windows += [line.rstrip("\r\n") for line in more]
    if not any(line.strip() for line in lines):
        raise UnmaskError(f"file {file.name!r} is empty; expected rows")
    top = _count_above(lines, comment)
    if top == len(lines):
        raise UnmaskError(f"file {file.name!r} has comments alone, expected rows below them")
    comments = tuple(line for line in lines[:top] if line.strip())
    rows, further = (tuple(blank_comments(part, comment)) for part in (lines[top:], windows))
    sample = Sample(file, comments, skip_lines + top, skip_lines, rows, further, comment)
    return _trim(sample) if trim else sample


def blank_comments(lines: Iterable[str], comment: str | None) -> Iterator[str]:
    """Yield lines with an empty one in place of each comment, so that lines keep their numbers."""
    mark = None if comment == "none" else comment
    yield from ("" if mark and line.lstrip().startswith(mark) else line for line in lines)


def _count_above(lines: list[str], comment: str | None) -> int:
    """Count the comments and blank lines above the first row; where most lines begin with a mark, ids do."""

    def is_comment(line: str) -> bool:
        if comment is None:
            return _COMMENT.match(line) is not None
        return comment != "none" and line.lstrip().startswith(comment)

    n_filled = sum(bool(line.strip()) for line in lines)
    n_marked = sum(map(is_comment, lines))
    top = next((at for at, line in enumerate(lines) if line.strip() and not is_comment(line)), len(lines))
    spaced = all(re.match(rf"\s*({MARKS})+(\s|$)", line) for line in lines if line.strip())
    if comment is None and (
        (top == len(lines) and not spaced) or (n_marked > n_filled / 2 and n_filled > 4 and top > 3)
    ):
        return next(at for at, line in enumerate(lines) if line.strip())
    return top


def _trim(sample: Sample) -> Sample:
    """Cut brackets around every line, or attributes in braces at the end of every line."""
    filled = [(number, line) for number, line in enumerate(sample.lines, sample.n_above + 1) if line.strip()]
    for note, pattern in _TRIMS.items():
        misfits = [number for number, line in filled if not pattern.fullmatch(line)]
        if misfits and len(misfits) <= 0.1 * len(filled):
            raise AmbiguousInput(
                f"line {misfits[0]} of {sample.file.name!r} has no brackets or braces, and the others have",
                [f"--skip-lines {misfits[0]}"] if misfits[0] == sample.n_above + 1 else [],
            )
        if not misfits:
            lines, windows = (
                tuple(cut[1] if (cut := pattern.fullmatch(line)) else line for line in part)
                for part in (sample.lines, sample.windows)
            )
            return replace(sample, lines=lines, windows=windows, trim=pattern, note=note)
    return sample
