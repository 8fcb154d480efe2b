"""Take the pictures of the documentation: `python -m docs.pictures [NAME ...]`.

It runs every command of `docs.picture_sources` and photographs the result. Names limit it to pictures that begin with
one of them. It needs Chromium and playwright, and only generated data. A page or chart that is not found keeps its old
picture, is named at the end, and makes the exit code 1.
"""

from __future__ import annotations

import base64
import csv
import html
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from docs.picture_sources import (
    AUDITS,
    CHARTS,
    DOCUMENT,
    LOOKS,
    MECHANISM,
    PAGES,
    PLAN,
    POLICY,
    ROLES,
    RUNS,
    TERMINALS,
)
from unmask.aggregates import write_release
from unmask.aggregates.protections.exact_tables import count_tables
from unmask.channels import Geometric, RandomizedResponse
from unmask.graphs.datasets import barabasi_albert
from unmask.linkage import PerPeriod, Threshold
from unmask.linkage.datasets import synthetic_traces
from unmask.tables.datasets import synthetic_census

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

FOLDER = Path(__file__).parent / "pictures"

BADGES = """
from unmask.domains import DOMAINS, Domain
DOMAINS["badges"] = Domain("tests.badges.cases", ("tests.badges",))
"""
"""Code that registers the domain of `tests/badges`."""

TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; background: #15181c; } pre { display: inline-block; box-sizing: border-box; width: 900px; margin: 0;
padding: 16px 20px; background: #15181c; color: #eceeef; font: 14px/1.5 "Liberation Mono", monospace;
white-space: pre-wrap; overflow-wrap: anywhere; } b { color: #82b6ec; } .m31 { color: #f39a6b; }
.m32 { color: #5cc4ad; } .m33 { color: #e8c46a; } .m1 { font-weight: 700; }</style><pre>"""


def main(prefixes: Sequence[str]) -> int:
    """Take all pictures, or those whose names begin with one of the prefixes."""
    from playwright.sync_api import sync_playwright  # tests import this file without it

    missing = []
    FOLDER.mkdir(exist_ok=True)
    os.chdir(tempfile.mkdtemp())
    write_inputs()
    write_pages()
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        pages = browser.new_page(device_scale_factor=1), browser.new_page(device_scale_factor=2)
        for name, picture in take_pictures(*pages):
            if prefixes and not name.startswith(tuple(prefixes)):
                continue
            if picture is None:
                missing.append(name)
            else:
                (FOLDER / f"{name}.webp").write_bytes(picture)
        browser.close()
    sys.stderr.write("".join(f"not found: {name}\n" for name in missing))
    return bool(missing)


def write_inputs() -> None:
    """Write generated people, a network, items and mechanisms, which are the same in every run."""
    rng = np.random.default_rng(0)
    census = synthetic_census(1000, rng=rng)
    columns = ("age", "sex", "zip", "diagnosis")
    write_csv("people.csv", columns, zip(*(census[name].tolist() for name in columns), strict=True))
    write_csv(
        "register.csv", columns[:3], list(zip(*(census[name].tolist() for name in columns[:3]), strict=True))[:800]
    )
    areas = np.repeat(np.arange(25), [10] * 12 + [25] * 8 + [50] * 4 + [140])
    decades = np.asarray(census["age"])[: len(areas)] // 10 * 10
    rows = zip(areas.tolist(), census["sex"].tolist(), decades.tolist(), census["diagnosis"].tolist(), strict=False)
    write_csv("areas.csv", ("area", "sex", "decade", "diagnosis"), rows)
    tables = ["sex*decade", "sex*diagnosis", "decade*diagnosis"]
    write_release(count_tables(Path("areas.csv"), tables, geography="area").tables, Path("published"))
    numbers = np.round(rng.lognormal(size=(800, 3)) * (20_000, 9_000, 300)).astype(int)
    write_csv("numbers.csv", ("income", "savings", "rent"), numbers.tolist())
    barabasi_albert(800, 6, rng=rng).write("network.csv")
    release, solution = PerPeriod(0.25)(synthetic_traces(60, 40, rng=rng, difficulty=0.45), rng=rng)
    write_csv("truth.csv", ("item", "subject"), zip(solution.items.tolist(), solution.code.tolist(), strict=True))
    for name, distance in (("near", 0.4), ("far", 0.7)):
        guess = Threshold(distance, scale="deviation")(release)
        write_csv(f"{name}.csv", ("item", "cluster"), zip(guess.items.tolist(), guess.code.tolist(), strict=True))
    cluster = dict(zip(guess.items.tolist(), guess.code.tolist(), strict=True))
    people = zip(solution.items.tolist(), solution.code.tolist(), strict=True)
    write_csv("linked.csv", ("item", "person", "cluster"), [(item, person, cluster[item]) for item, person in people])
    cells = [(f"cell {number}", 200 * (number % 3), 200 * (number // 3)) for number in range(6)]
    write_csv("places.csv", ("place", "x", "y"), cells)
    visits = np.random.default_rng(1).dirichlet(np.ones(len(cells)))
    write_csv("visits.csv", ("secret", "probability"), zip((name for name, *_ in cells), visits, strict=True))
    for name, mechanism in (
        ("response", RandomizedResponse(epsilon=2.0, n=8)),
        ("geometric", Geometric(epsilon=0.7, n=8)),
    ):
        rows = mechanism.channel(np.full(8, 1 / 8)).dense().tolist()
        write_csv(f"{name}.csv", ("", *range(8)), ((secret, *row) for secret, row in enumerate(rows)))
    for name, text in (
        ("unmask.toml", DOCUMENT),
        ("research.toml", POLICY),
        ("plan.toml", PLAN),
        ("mechanism.toml", MECHANISM),
    ):
        Path(name).write_text(text, encoding="utf-8")
    colors = rng.integers(0, 3, 80)
    np.savetxt("people.txt", colors, fmt="%d")
    np.savetxt("shown.txt", np.where(rng.random(80) < 0.8, colors, rng.integers(0, 3, 80)), fmt="%d")
    Path("own").mkdir()
    run_unmask("protect", "people.csv", *ROLES, "--k", "8", "-o", "release.csv", "--origin", "own/origin.csv")
    run_unmask("protect", "people.csv", *ROLES, "--k", "12", "-o", "signed.csv", "--origin", "own/signed.csv")
    run_unmask(
        "protect", "people.csv", *ROLES, "--k", "3", "--hold-back", "0.3", "-o", "held.csv", "--origin", "own/held.csv"
    )


def write_csv(file: str, columns: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with Path(file).open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([columns, *rows])


def write_pages() -> None:
    """Write every page with its command."""
    with ThreadPoolExecutor(2) as pool:
        for name, command in AUDITS.items():
            pool.submit(run_unmask, *command, "--report", f"{name}.html")
        for name, plan in RUNS.items():
            pool.submit(run_unmask, "study", plan, "-o", f"run-{name}")
    for name in RUNS:
        run_unmask("report", f"run-{name}", "-o", f"{name}.html")
    run_unmask("certify", "unmask.toml", "-o", "certificate.json")
    for name, command in TERMINALS.items():
        Path(f"{name}.html").write_text(TERMINAL + render_terminal(command), encoding="utf-8")


def run_unmask(*words: str, color: bool = False) -> str:
    """Return the output of a command. If its exit code is not 0 or 3, print the end of the output."""
    registration = BADGES if "badges" in words else ""
    code = f"{registration}from unmask.cli import main; main(prog_name='unmask', color={color or None})"
    root = FOLDER.parents[1]
    variables = {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}", "PYTHONWARNINGS": "ignore", "COLUMNS": "100"}
    process = subprocess.run(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | variables,
    )  # fmt: skip
    if process.returncode not in (0, 3):
        sys.stderr.write(f"unmask {' '.join(words)}\n{process.stdout[-500:]}\n")
    return process.stdout


def render_terminal(command: Sequence[str]) -> str:
    """Return the terminal of a command as HTML."""
    output = html.escape(run_unmask(*command, color=True), quote=False)
    output = re.sub(r"\x1b\[0?m", "</span>", re.sub(r"\x1b\[([1-9]\d*)m", r'<span class="m\1">', output))
    if "made.toml" in command:
        output += "<b>$ cat made.toml</b>\n" + html.escape(Path("made.toml").read_text(encoding="utf-8"))
    words = (f'"{word}"' if re.search(r"[<>]", word) else word for word in command)
    return f"<b>$ unmask {html.escape(' '.join(words))}</b>\n{output}</pre>"


def take_pictures(page: Page, sharp_page: Page) -> Iterator[tuple[str, bytes | None]]:
    """Yield each name with its picture, or with None if a page lacks the element."""
    for name in PAGES:
        yield from photograph_report(page, name)
    open_report(page, "badges", 1280, 800)
    yield "badges", photograph(page)
    for name, (report, selector) in CHARTS.items():
        open_report(sharp_page, report, 1280, 800)
        sharp_page.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true })")
        yield name, photograph(sharp_page, sharp_page.locator(selector).first)
    for name in TERMINALS:
        open_report(page, name, 940, 800)
        yield name, photograph(page, page.locator("pre").first, quality=20)
    yield from photograph_app(page)


def photograph_report(page: Page, name: str) -> Iterator[tuple[str, bytes | None]]:
    """Yield the first screen of a report, wide and narrow, light and dark, and its first printed page."""
    open_report(page, name, 1280, 800)
    yield from photograph_looks(page, name)
    open_report(page, name, 794, 1123)  # A4 at 96 dots per inch
    page.emulate_media(media="print", color_scheme="light")  # after opening, which resets it
    page.add_style_tag(content="html { padding: 12mm; }")  # margin of a printer
    yield f"{name}-print", photograph(page)
    page.emulate_media(media="screen")


def photograph_app(page: Page) -> Iterator[tuple[str, bytes | None]]:
    """Yield the screens of `unmask open`, from a file to a certificate."""
    command = [sys.executable, "-m", "unmask_command", "open", "--no-browser", "people.csv"]
    path = {"PYTHONPATH": str(FOLDER.parents[1] / "src")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | path) as server:
        assert server.stdout is not None
        try:
            yield from complete_steps(page, server.stdout.readline().strip())
        finally:
            server.send_signal(signal.SIGINT)


def photograph_hierarchy(page: Page) -> Iterator[tuple[str, bytes | None]]:
    """Yield the hierarchy of a column, which is removed again."""
    page.locator(".card", has=page.get_by_role("heading", name="age")).locator("summary").click()
    page.get_by_role("button", name=re.compile("Make a hierarchy.*age")).click()
    page.get_by_role("button", name="Make the hierarchy").click()
    page.get_by_role("button", name="Remove the hierarchy").wait_for()
    yield from photograph_looks(page, "app-hierarchy")
    page.get_by_role("button", name="Remove the hierarchy").click()
    page.get_by_role("link", name="Back to the roles").click()


def complete_steps(page: Page, address: str) -> Iterator[tuple[str, bytes | None]]:
    """Fill in the forms of all steps, and yield each screen once no run is active."""
    busy = page.locator("[data-events]")
    page.goto(address)  # continues with the first open step
    page.wait_for_url(lambda url: url.startswith("http") and "key" not in url)
    page.goto(page.url.rpartition("/")[0] + "/open")
    yield from photograph_looks(page, "app-open")
    page.get_by_role("button", name="Continue to roles").click()
    busy.wait_for(state="detached")
    yield from photograph_looks(page, "app-roles")
    yield from photograph_hierarchy(page)
    page.get_by_role("button", name="Continue").first.click()
    page.get_by_label("Own conditions").check()
    page.get_by_label("Replace them, one per line").fill("k >= 10\nidentity:success_probability.worst <= 0.09")
    yield from photograph_looks(page, "app-adversaries")
    page.get_by_role("button", name="Make the release").click()
    page.get_by_text("Is it acceptable?").wait_for(timeout=120_000)
    busy.wait_for(state="detached", timeout=120_000)
    yield from photograph_looks(page, "app-verdict")
    page.goto(page.url.replace("/verdict", "/protect"))
    page.get_by_role("button", name="Try protections").click()
    page.get_by_role("status").wait_for()
    busy.wait_for(state="detached", timeout=300_000)
    yield from photograph_looks(page, "app-protect")
    page.goto(page.url.replace("/protect", "/game"))
    yield from photograph_looks(page, "app-game")
    page.goto(page.url.replace("/game", "/sign"))
    yield from photograph_looks(page, "app-sign")
    yield from photograph_other_data(page, page.url.rpartition("/")[0])


def photograph_other_data(page: Page, home: str) -> Iterator[tuple[str, bytes | None]]:
    """Yield a screen for a network, for clusters and for a channel."""
    open_file(page, home, "network.csv")
    page.goto(f"{home}/roles")
    yield from photograph_looks(page, "app-network")
    open_file(page, home, "linked.csv")
    page.goto(f"{home}/adversaries")
    page.locator('input[name="breached<="]').fill("30")
    yield from photograph_looks(page, "app-clusters")
    open_file(page, home, "places.csv")
    page.goto(f"{home}/roles")
    page.get_by_label("Probability of each secret").set_input_files("visits.csv")
    page.get_by_label("Largest expected distortion").fill("150")
    page.get_by_label("Unit of the loss").fill("m")
    page.get_by_role("button", name="Continue").click()
    page.locator('input[name="estimation_error>="]').fill("100")
    page.get_by_role("button", name="Attack it").click()
    page.get_by_text("Is it acceptable?").wait_for(timeout=120_000)
    page.goto(f"{home}/protect")
    page.get_by_role("button", name="Try protections").click()
    page.get_by_role("heading", name="All points").wait_for(timeout=300_000)
    yield from photograph_looks(page, "app-channel")


def open_file(page: Page, home: str, file: str) -> None:
    """Open another file in the app."""
    page.goto(f"{home}/open")
    page.get_by_role("button", name="Open another file").click()
    page.get_by_label("Path on this computer").fill(str(Path(file).absolute()))
    page.get_by_role("button", name="Open", exact=True).first.click()
    page.get_by_role("heading", name="How the file was read").wait_for()


def photograph_looks(page: Page, name: str) -> Iterator[tuple[str, bytes | None]]:
    """Yield the top of a page, wide and narrow, light and dark."""
    page.evaluate("() => { document.activeElement?.blur(); window.scrollTo(0, 0); }")
    for ending, scheme, width in LOOKS:
        page.emulate_media(media="screen", color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        yield name + ending, photograph(page, quality=40)
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})


def open_report(page: Page, name: str, width: int, height: int) -> None:
    """Open a page, or an empty one if its command failed."""
    page.set_viewport_size({"width": width, "height": height})
    file = Path(f"{name}.html").absolute()
    page.goto(file.as_uri() if file.is_file() else "about:blank")


def photograph(page: Page, element: Locator | None = None, *, quality: int = 50) -> bytes | None:
    """Return a picture of the window or of an element, or None if it is missing.

    quality : from 0 to 100; plain text needs little
    """
    options = {"format": "webp", "quality": quality}
    if page.url == "about:blank":
        return None
    if element is not None:
        box = element.bounding_box() if element.count() else None
        if box is None:
            return None
        options["captureBeyondViewport"] = True
        options["clip"] = {name: box[name] for name in ("x", "y", "width", "height")} | {"scale": 1}
    screenshot = page.context.new_cdp_session(page).send("Page.captureScreenshot", options)
    return base64.b64decode(screenshot["data"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
