"""Where the words of a drawing stand at a given width, in pixels."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree as ET

from unmask.reports.room import SIZE, wide


class Words(NamedTuple):
    """A line of words, in pixels from the left end of what is drawn and from the top."""

    said: str
    left: float
    right: float
    top: float
    bottom: float


def text_boxes(drawn: str, width: float, *, second: bool = True) -> list[Words]:
    """Every line of words of an SVG whose content is so wide; second : with words of second rank."""
    found = re.search(r'<svg role="img".*</svg>', drawn, re.DOTALL)
    assert found
    root = ET.fromstring(found[0])
    return [
        _box(one, width) for one in root.iter() if one.tag.endswith("text") and (second or one.get("class") != "second")
    ]


def _box(one: ET.Element, width: float) -> Words:
    said = one.text or ""
    long = wide(said, bold="font-weight" in one.attrib)
    at = float(one.attrib["x"].rstrip("%")) / 100 * width + float(one.get("dx", 0))
    left = at - {"end": long, "middle": long / 2}.get(one.get("text-anchor", ""), 0.0)
    middle = float(one.attrib["y"]) - 0.35 * SIZE
    return Words(said, left, left + long, middle - SIZE / 2, middle + SIZE / 2)


def crossing(boxes: list[Words]) -> list[tuple[str, str]]:
    """Words that stand on each other, by more than a pixel."""
    pairs = ((a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    return [
        (a.said, b.said)
        for a, b in pairs
        if a.left + 1 < b.right and b.left + 1 < a.right and a.top + 1 < b.bottom and b.top + 1 < a.bottom
    ]
