"""Room that words take in a drawing, at every width that the drawing may have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

FONT_SIZE = 13
"""Size of words in charts, in pixels: nothing on a screen is smaller."""

LINE_HEIGHT = 18.0
"""Height of a line of words, in pixels."""

NARROW, MIDDLE, BROAD = 270.0, 440.0, 1100.0
"""Widths of a drawing, in pixels: on a phone; from which there is room for words of second rank; at most."""

RIGHT = 20.0
"""Room to the right of a drawing, in pixels."""

GAP = 5.0
"""Least distance of two labels of an axis, in pixels from each of them."""

_WIDTHS = dict.fromkeys(" .,:;!|/ijltfI'[]\u00a0\u2026", 0.29) | dict.fromkeys("r()-", 0.35)
_WIDTHS |= dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZw", 0.72) | dict.fromkeys("mMW%@\u2264\u2265", 0.9)


def text_width(text: str, *, bold: bool = False) -> float:
    """Estimate the pixels of a text, rather more than less: without fonts, so a chart always has the same bytes."""
    return FONT_SIZE * sum(_WIDTHS.get(letter, 0.57) for letter in text) * (1.08 if bold else 1.0)


def wrap_text(text: str, width: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines of at most `width` pixels; a longer word is broken, and no text is cut.

    >>> wrap_text("an adversary who knows age", 110)
    ['an adversary who', 'knows age']
    """
    width = width / 1.08 if bold else width
    if text_width(text) <= width:
        return [text]
    lines = [""]
    for word in text.split(" "):
        remainder = word
        while text_width(remainder) > width:
            fitting = (
                next(n for n in range(len(remainder) - 1, -1, -1) if n <= 1 or text_width(remainder[:n]) <= width) or 1
            )
            lines, remainder = [*lines, remainder[:fitting]], remainder[fitting:]
        joined = f"{lines[-1]} {remainder}".strip(" ")
        lines = [*lines[:-1], joined] if text_width(joined) <= width else [*lines, remainder]
    return [line for line in lines if line] or [""]


class Box(NamedTuple):
    """A rectangle of a drawing: both ends as a part of the width plus pixels, top and bottom in pixels."""

    left: float
    left_px: float
    right: float
    right_px: float
    top: float
    bottom: float

    def widened(self, pixels: float) -> Box:
        """Return the box with more room at both sides."""
        return self._replace(left_px=self.left_px - pixels, right_px=self.right_px + pixels)

    def is_inside(self, left: float = 0.0, right: float = 0.0, narrow: float = NARROW) -> bool:
        """Return whether a box keeps to the drawing, and its room at both sides, at every width from `narrow` on."""
        ends = [(self.left * w + self.left_px, self.right * w + self.right_px - w) for w in (narrow, BROAD)]
        return all(start >= -left and end <= right for start, end in ends)


def overlap(a: Box, b: Box, narrow: float = NARROW, broad: float = BROAD) -> bool:
    """Return whether two boxes have anything in common at any width between the two.

    >>> left, near, far = (Box(at, 0, at, 50, 0, 9) for at in (0.0, 0.1, 0.2))
    >>> overlap(left, near), overlap(left, far)
    (True, False)
    """
    if a.top >= b.bottom or b.top >= a.bottom:
        return False
    for first, second in ((a, b), (b, a)):  # widths at which the right end of one is beyond the left end of the other
        shift, slope = second.right_px - first.left_px, second.right - first.left
        if slope > 0:
            narrow = max(narrow, -shift / slope)
        elif slope < 0:
            broad = min(broad, -shift / slope)
        elif shift <= 0:
            return False
    return narrow < broad


class Label(NamedTuple):
    """Words whose middle line is at `y`, `dx` pixels from a part of the width."""

    words: str
    x: float
    y: float
    dx: float = 0.0
    anchor: str = ""

    @property
    def box(self) -> Box:
        """Return the room of the words."""
        width = text_width(self.words)
        start = self.dx - {"": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return Box(self.x, start, self.x, start + width, self.y - FONT_SIZE / 2, self.y + FONT_SIZE / 2)


def place(
    labels: Iterable[Label],
    occupied: list[Box],
    *,
    left: float = 0.0,
    right: float = RIGHT,
    gap: float = 0.0,
    widths: Sequence[float] = (NARROW, MIDDLE),
) -> tuple[Label, bool] | None:
    """Choose the first label that meets nothing at any width from a given one on, and add its room to `occupied`.

    Returns
    -------
    (Label, bool) or None
        The label, and whether there is room for it from a middle width on only.
    """
    boxes = [(label, label.box.widened(gap)) for label in labels]
    for narrow in widths:
        for label, box in boxes:
            if box.is_inside(left, right, narrow) and not any(overlap(box, neighbor, narrow) for neighbor in occupied):
                occupied.append(box)
                return label, narrow > NARROW
    return None
