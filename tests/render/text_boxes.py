"""Positions of the words of a drawing at a given width, in pixels."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree as ET

from unmask.render.charts.boxes import FONT_SIZE, MIDDLE, text_width
from unmask.render.charts.svg import STEP, Drawing


class Words(NamedTuple):
    """A line of words, in pixels from the left end of the drawing and from the top."""

    words: str
    left: float
    right: float
    top: float
    bottom: float


def text_boxes(svg: str, width: float, *, second: bool = True) -> list[Words]:
    """Every line of words of an SVG whose content is so wide; second : with words of second rank."""
    result = re.search(r'<svg role="img".*</svg>', svg, re.DOTALL)
    assert result
    root = ET.fromstring(result[0])
    texts = (element for element in root.iter() if element.tag.endswith("text"))
    return [_box(element, width) for element in texts if second or element.get("class") != "second"]


def _box(element: ET.Element, width: float) -> Words:
    words = element.text or ""
    pixels = text_width(words, bold="font-weight" in element.attrib)
    index = float(element.attrib["x"].rstrip("%")) / 100 * width + float(element.get("dx", 0))
    start = index - {"end": pixels, "middle": pixels / 2}.get(element.get("text-anchor", ""), 0.0)
    middle = float(element.attrib["y"]) - 0.35 * FONT_SIZE
    return Words(words, start, start + pixels, middle - FONT_SIZE / 2, middle + FONT_SIZE / 2)


def crossing(boxes: list[Words]) -> list[tuple[str, str]]:
    """Words that are drawn over each other, by more than a pixel."""
    pairs = ((a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    return [
        (a.words, b.words)
        for a, b in pairs
        if a.left + 1 < b.right and b.left + 1 < a.right and a.top + 1 < b.bottom and b.top + 1 < a.bottom
    ]


def assert_legible(drawing: Drawing, width: float) -> None:
    """No word is cut, none is drawn over another one, and none is outside the drawing."""
    boxes = text_boxes(str(drawing), width, second=width >= MIDDLE)
    cut = [box.words for box in boxes if box.left < -drawing.left - STEP or box.right > width + drawing.right + STEP]
    assert not cut, cut
    assert not crossing(boxes)
    assert all(box.top >= -2 and box.bottom <= drawing.height + 4 for box in boxes)
