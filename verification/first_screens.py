"""First screens in a browser: four answers are seen at 1280 by 800 pixels, nothing is wider than its window, and
axe-core finds no serious fault on a page with its folds open.

    PYTHONPATH=. python verification/first_screens.py [PAGE.html ...] [--shots FOLDER]

Without pages it takes those of the test suite: a table, a price, a network, linkage, a channel and a study, each under
a policy. It needs Chromium and the package playwright. `--shots` keeps a picture of each, light, dark and narrow.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from show import Section, Verdict, list_serious_faults, open_browser, run

LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "narrow": (400, "light")}
"""Look -> width of the window, and the colors that its reader wishes for."""

BOTTOMS = "all => all.map(one => one.getBoundingClientRect().bottom)"


def _pages(files: list[Path]) -> dict[str, str]:
    if files:
        return {path.stem: path.read_text(encoding="utf-8") for path in files}
    from tests.reports.test_first_screen import pages

    return pages()


def verify_screens(files: list[Path], shots: Path | None) -> Section:
    """Measure every page in every look: the lowest answer, and the width."""
    rows: list[tuple[str, ...]] = []
    verdicts: list[Verdict] = []
    with open_browser() as browser:
        for name, page in _pages(files).items():
            for look, (width, colors) in LOOKS.items():
                window = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=colors)
                window.set_content(page)
                boxes = window.eval_on_selector_all(".verdict h1, .trio > div > *", BOTTOMS)
                wide = window.evaluate("document.documentElement.scrollWidth")
                faults = list_serious_faults(window)
                if shots is not None:
                    window.screenshot(path=str(shots / f"{name}-{look}.png"))
                window.close()
                rows.append((f"{name}, {look}", *map(str, (len(boxes), round(max(boxes)), wide, len(faults)))))
                found = "; ".join(faults) or "0"
                verdicts.append(Verdict(f"{name}, {look}: axe-core finds no serious fault", "0", found, not faults))
                verdicts.append(Verdict(f"{name}, {look}: as wide as its window", str(width), str(wide), wide <= width))
                if look != "narrow":
                    claim = f"{name}, {look}: answered on the first screen"
                    verdicts.append(Verdict(claim, "800 pixels", f"{max(boxes):.0f}", max(boxes) <= 800))
    heads = ("page", "parts", "lowest", "width", "serious faults")
    return Section("First screens", heads, tuple(rows), verdicts=tuple(verdicts))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--shots", type=Path)
    options = parser.parse_args()
    sys.exit(run((partial(verify_screens, options.pages, options.shots),)))
