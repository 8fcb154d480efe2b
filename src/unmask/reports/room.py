"""How much room words and marks take in a drawing, at every width that it may have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

SIZE = 13
"""Size of words in charts, in pixels: nothing on a screen is smaller."""

ROW = 18.0
"""Height of a line of words, in pixels."""

NARROW, MIDDLE, BROAD = 270.0, 440.0, 1100.0
"""Widths of what is drawn, in pixels: on a phone; from which there is room for words of second rank; at most."""

RIGHT = 20.0
"""Pixels right of what is drawn."""

STEP = 8
"""Room at the left is a multiple of so many pixels, see `templates/chart.css`."""

_WIDTHS = dict.fromkeys(" .,:;!|/ijltfI'[]\u00a0\u2026", 0.29) | dict.fromkeys("r()-", 0.35)
_WIDTHS |= dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZw", 0.72) | dict.fromkeys("mMW%@\u2264\u2265", 0.9)


class Box(NamedTuple):
    """Something drawn: its left and right end as a part of the width and pixels, and its top and bottom in pixels."""

    left: float
    left_px: float
    right: float
    right_px: float
    top: float
    bottom: float


def overlap(a: Box, b: Box, narrow: float = NARROW, broad: float = BROAD) -> bool:
    """Whether two boxes have anything in common at any width between the two.

    >>> (
    ...     overlap(Box(0.0, 0, 0.0, 50, 0, 9), Box(0.1, 0, 0.1, 50, 0, 9)),
    ...     overlap(Box(0.0, 0, 0.0, 50, 0, 9), Box(0.2, 0, 0.2, 50, 0, 9)),
    ... )
    (True, False)
    """
    if a.top >= b.bottom or b.top >= a.bottom:
        return False
    for one, two in ((a, b), (b, a)):  # where the right end of one is beyond the left end of the other
        shift, slope = two.right_px - one.left_px, two.right - one.left
        if slope > 0:
            narrow = max(narrow, -shift / slope)
        elif slope < 0:
            broad = min(broad, -shift / slope)
        elif shift <= 0:
            return False
    return narrow < broad


def wide(said: str, *, bold: bool = False) -> float:
    """About how many pixels words take, rather more than less, in the font of all charts."""
    return SIZE * sum(_WIDTHS.get(letter, 0.57) for letter in said) * (1.08 if bold else 1.0)


def wrapped(said: str, room: float, *, bold: bool = False) -> list[str]:
    """The words in lines of at most `room` pixels; a word that is longer is broken, so that nothing is ever cut.

    >>> wrapped("an adversary who knows age", 110)
    ['an adversary who', 'knows age']
    """
    room = room / 1.08 if bold else room
    if wide(said) <= room:
        return [said]
    lines = [""]
    for word in said.split(" "):
        rest = word
        while wide(rest) > room:
            fits = next(n for n in range(len(rest) - 1, -1, -1) if n <= 1 or wide(rest[:n]) <= room) or 1
            lines, rest = [*lines, rest[:fits]], rest[fits:]
        joined = f"{lines[-1]} {rest}".strip(" ")
        lines = [*lines[:-1], joined] if wide(joined) <= room else [*lines, rest]
    return [line for line in lines if line] or [""]


def at_step(pixels: float) -> int:
    """So many pixels of room, rounded up to what the page has a class for."""
    return STEP * math.ceil(pixels / STEP)


def room(at: float, dx: float, said: str, *, anchor: str = "", bold: bool = False, y: float = 0.0) -> Box:
    """What words take, see `text`."""
    long = wide(said, bold=bold)
    start = dx - {"": 0.0, "middle": long / 2, "end": long}[anchor]
    return Box(at, start, at, start + long, y - SIZE / 2, y + SIZE / 2)


def inside(box: Box, left: float = 0.0, right: float = 0.0, narrow: float = NARROW) -> bool:
    """Whether a box keeps to the drawing at every width, with so many pixels of room beyond it at both sides."""
    ends = [(box.left * w + box.left_px, box.right * w + box.right_px - w) for w in (narrow, BROAD)]
    return all(start >= -left and end <= right for start, end in ends)


def first_free(boxes: Sequence[Box], taken: Sequence[Box], narrow: float = NARROW) -> Box | None:
    """The first of them that meets nothing at any width from a given one on."""
    return next((box for box in boxes if not any(overlap(box, other, narrow) for other in taken)), None)


Labels = Sequence[tuple[float, tuple[str, ...]]]
"""Labels of a scale: where they stand, and their words in lines."""

GAP = 5.0
"""Pixels left and right of a label."""


def apart(
    labels: Labels, narrow: float, first: Mapping[int, str] | None = None, *, left: float = 0.0, right: float = RIGHT
) -> dict[int, str]:
    """Labels of which none touches another from a width on, and where each is anchored: both ends, then from the left.

    left, right : room beside the drawing; first : labels that are there already
    """
    kept = dict(first or {})
    taken = [_label(labels[i], anchor) for i, anchor in kept.items()]
    for i in (len(labels) - 1, *range(len(labels) - 1)) if labels else ():
        for anchor in ("middle", "end" if labels[i][0] > 0.5 else "") if i not in kept else ():
            box = _label(labels[i], anchor)
            if inside(box, left + GAP, right + GAP, narrow) and first_free([box], taken, narrow):
                kept[i] = anchor
                taken.append(box)
                break
    return kept


def _label(label: tuple[float, tuple[str, ...]], anchor: str) -> Box:
    at, words = label
    box = room(at, 0.0, max(words, key=wide), anchor=anchor)
    return box._replace(left_px=box.left_px - GAP, right_px=box.right_px + GAP)
