"""Charts in a browser: every word measured at five widths, with pointer, dark and printed.

`python verification/charts.py [--pages FILE ...]`, with playwright and chromium. Without pages of your own it makes one
of each kind: a table, a study, a network, clusters and a channel. A fast test computes the boxes without a browser.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from show import Section, Verdict, open_browser, run

HERE = Path(__file__).resolve().parent
WIDTHS = (360, 400, 768, 1280, 1920)
SMALLEST = 13.0

UNFOLD = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
"""Opens folded parts, as a reader does."""

BOXES = """() => [...document.querySelectorAll('.drawing')].flatMap((drawing, chart) => {
  const frame = drawing.getBoundingClientRect();
  return [...drawing.querySelectorAll('svg.chart text, .legend span')].map((one) => {
    const box = one.getBoundingClientRect();
    return { chart, said: one.textContent, left: box.left, right: box.right, top: box.top, bottom: box.bottom,
      size: parseFloat(getComputedStyle(one).fontSize), from: frame.left, to: frame.right };
  }).filter((box) => box.right > box.left);
})"""


def make_pages(folder: Path) -> Iterator[Path]:
    """Write a page of each kind of run."""
    rng = np.random.default_rng(1)
    subjects = rng.integers(0, 60, 300)
    guessed = np.where(rng.random(300) < 0.3, rng.integers(0, 60, 300), subjects)
    (folder / "truth.csv").write_text("item,subject\n" + "".join(f"{i},{s}\n" for i, s in enumerate(subjects)))
    (folder / "guess.csv").write_text("item,cluster\n" + "".join(f"{i},{s}\n" for i, s in enumerate(guessed)))
    near = 0.5 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    lines = (f"p{i}," + ",".join(map(repr, map(float, row))) for i, row in enumerate(near / near.sum(1, keepdims=True)))
    (folder / "near.csv").write_text("," + ",".join(f"p{i}" for i in range(6)) + "\n" + "\n".join(lines) + "\n")
    edges = {(a, int(b)) for a in range(1, 600) for b in rng.integers(0, a, 6)}
    (folder / "network.txt").write_text("".join(f"{a} {b}\n" for a, b in sorted(edges)))
    report = ("--report",)
    yield _make_page(folder, "demo", *report, people=2000)
    yield _make_page(folder, "audit linkage --truth truth.csv --guess guess.csv", *report)
    yield _make_page(folder, "audit channel near.csv --loss hamming", *report)
    attacked = "--overlap 0.75,0.75 --seeds top:30 --attack Nar09,Rematch --runs 2"
    yield _make_page(folder, f"audit graph network.txt {attacked}", *report)
    _call(folder, "study", str(HERE.parent / "examples" / "quick.toml"), "-o", "results")
    yield _make_page(folder, "report results", "-o")


def _make_page(folder: Path, command: str, option: str, people: int = 0) -> Path:
    words = command.split()
    path = folder / f"{'-'.join(words[:2])}.html"
    _call(folder, *words, option, path.name, *(("--people", str(people)) if people else ()))
    return path


def _call(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "unmask_command", *words], cwd=folder, check=True, capture_output=True)


def verify_words(browser: Any, paths: Sequence[Path]) -> Section:
    """Find words that are cut, overlap or are small, on each page at each width."""
    rows, verdicts = [], []
    for path in paths:
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(path.as_uri())
            page.evaluate(UNFOLD)
            boxes = page.evaluate(BOXES)
            cut = [box for box in boxes if box["left"] < box["from"] - 12 or box["right"] > box["to"] + 12]
            excess = page.evaluate("document.documentElement.scrollWidth") - width
            small = [box for box in boxes if box["size"] < SMALLEST]
            crossed = list(_find_crossings(boxes))
            rows.append((path.stem, *map(str, (width, len(boxes), len(cut), len(crossed), len(small)))))
            faults = [f"{box['said']!r} is cut" for box in cut] + [f"{a!r} on {b!r}" for a, b in crossed]
            ours = "; ".join(faults[:3]) or "none"
            holds = bool(boxes) and not cut and not crossed and not small and excess <= 0
            verdicts.append(Verdict(f"{path.stem} at {width} px: words cut or crossed", "none", ours, holds))
            page.close()
    head = ("page", "width", "words", "cut", "crossed", "below 13 px")
    return Section("Every word of every chart, as drawn", head, tuple(rows), verdicts=tuple(verdicts))


def _find_crossings(boxes: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Find overlapping words of one chart; a box is a quarter higher than its letters."""
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            if a["chart"] == b["chart"] and a["left"] + 1 < b["right"] and b["left"] + 1 < a["right"]:
                high = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
                if high > 0.3 * (a["bottom"] - a["top"]):
                    yield a["said"], b["said"]


def verify_pointer(browser: Any, paths: Sequence[Path]) -> Section:
    """Check that a pointer shows a value, and that the script raises no error."""
    verdicts = []
    for path in paths:
        page, errors = browser.new_page(viewport={"width": 1280, "height": 900}), []
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        page.goto(path.as_uri())
        page.evaluate(UNFOLD)
        mark = page.locator(".drawing svg.chart g .mark").first
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        tip = page.locator(".tip:visible").first
        text = tip.text_content() if tip.count() else ""
        verdicts.append(Verdict(f"{path.stem}: a pointer shows a value", "a value", text or "nothing", bool(text)))
        ours = errors[0] if errors else "none"
        verdicts.append(Verdict(f"{path.stem}: errors of the script", "none", ours, not errors))
        page.close()
    return Section("Charts in use", ("pages",), ((str(len(paths)),),), verdicts=tuple(verdicts))


def verify_print(browser: Any, paths: Sequence[Path]) -> Section:
    """Check that without scripts and in print every mark has its value in a title."""
    verdicts = []
    for path in paths:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(path.as_uri())
        page.emulate_media(media="print")
        titles, marks = page.locator("svg.chart title").count(), page.locator("svg.chart .mark").count()
        ours = f"{titles} titles, {marks} marks"
        verdicts.append(Verdict(f"{path.stem}: titles without a script", "as many", ours, 0 < marks <= titles))
        context.close()
    return Section("Without scripts, in print", ("pages",), ((str(len(paths)),),), verdicts=tuple(verdicts))


def main(pages: Sequence[Path]) -> int:
    """Measure pages of one's own, or one of each kind."""
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        paths = [path.resolve() for path in pages] or list(make_pages(Path(folder)))
        return run([partial(part, browser, paths) for part in (verify_words, verify_pointer, verify_print)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path, nargs="*", default=[])
    raise SystemExit(main(parser.parse_args().pages))
