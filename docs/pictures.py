"""Make the pictures of the documentation: `python -m docs.pictures [NAME ...]` runs every command of `docs.shown` anew
and shoots what it wrote, or those pictures whose names begin with one of these.

Needs Chromium and playwright, and no data but what the package makes. A page or chart that is not found keeps the
picture that is there, is named at the end, and makes the exit code 1.
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

from docs.shown import (
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
"""The line that makes a domain of `tests/badges`."""

TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; background: #15181c; } pre { display: inline-block; box-sizing: border-box; width: 900px; margin: 0;
padding: 16px 20px; background: #15181c; color: #eceeef; font: 14px/1.5 "Liberation Mono", monospace;
white-space: pre-wrap; overflow-wrap: anywhere; } b { color: #82b6ec; } .m31 { color: #f39a6b; }
.m32 { color: #5cc4ad; } .m33 { color: #e8c46a; } .m1 { font-weight: 700; }</style><pre>"""


def main(wanted: Sequence[str]) -> int:
    """Make everything, or the pictures whose names begin with one of those given."""
    from playwright.sync_api import sync_playwright  # here, as tests read this file where it is not installed

    missing = []
    FOLDER.mkdir(exist_ok=True)
    os.chdir(tempfile.mkdtemp())
    write_inputs()
    write_pages()
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, picture in shots(browser.new_page(device_scale_factor=1), browser.new_page(device_scale_factor=2)):
            if wanted and not name.startswith(tuple(wanted)):
                continue
            if picture is None:
                missing.append(name)
            else:
                (FOLDER / f"{name}.webp").write_bytes(picture)
        browser.close()
    sys.stderr.write("".join(f"not found: {name}\n" for name in missing))
    return bool(missing)


def write_inputs() -> None:
    """People, a network, items, mechanisms: made-up, and the same every time."""
    rng = np.random.default_rng(0)
    census = synthetic_census(1000, rng=rng)
    columns = ("age", "sex", "zip", "diagnosis")
    write("people.csv", columns, zip(*(census[name].tolist() for name in columns), strict=True))
    write("register.csv", columns[:3], list(zip(*(census[name].tolist() for name in columns[:3]), strict=True))[:800])
    numbers = np.round(rng.lognormal(size=(800, 3)) * (20_000, 9_000, 300)).astype(int)
    write("numbers.csv", ("income", "savings", "rent"), numbers.tolist())
    barabasi_albert(800, 6, rng=rng).write("network.csv")
    release, solution = PerPeriod(0.25)(synthetic_traces(60, 40, rng=rng, difficulty=0.45), rng=rng)
    write("truth.csv", ("item", "subject"), zip(solution.items.tolist(), solution.code.tolist(), strict=True))
    for name, distance in (("near", 0.4), ("far", 0.7)):
        guess = Threshold(distance, scale="deviation")(release)
        write(f"{name}.csv", ("item", "cluster"), zip(guess.items.tolist(), guess.code.tolist(), strict=True))
    cluster = dict(zip(guess.items.tolist(), guess.code.tolist(), strict=True))
    people = zip(solution.items.tolist(), solution.code.tolist(), strict=True)
    write("linked.csv", ("item", "person", "cluster"), [(item, person, cluster[item]) for item, person in people])
    cells = [(f"cell {at}", 200 * (at % 3), 200 * (at // 3)) for at in range(6)]
    write("places.csv", ("place", "x", "y"), cells)
    visits = np.random.default_rng(1).dirichlet(np.ones(len(cells)))
    write("visits.csv", ("secret", "probability"), zip((name for name, *_ in cells), visits, strict=True))
    for name, mechanism in (
        ("response", RandomizedResponse(epsilon=2.0, n=8)),
        ("geometric", Geometric(epsilon=0.7, n=8)),
    ):
        rows = mechanism.channel(np.full(8, 1 / 8)).dense().tolist()
        write(f"{name}.csv", ("", *range(8)), ((secret, *row) for secret, row in enumerate(rows)))
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
    unmask("protect", "people.csv", *ROLES, "--k", "8", "-o", "release.csv", "--origin", "own/origin.csv")
    unmask("protect", "people.csv", *ROLES, "--k", "12", "-o", "signed.csv", "--origin", "own/signed.csv")
    unmask(
        "protect", "people.csv", *ROLES, "--k", "3", "--hold-back", "0.3", "-o", "held.csv", "--origin", "own/held.csv"
    )


def write(file: str, names: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    """A CSV file."""
    with Path(file).open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *rows])


def write_pages() -> None:
    """Every page, by its command."""
    with ThreadPoolExecutor(2) as pool:
        for name, command in AUDITS.items():
            pool.submit(unmask, *command, "--report", f"{name}.html")
        for name, plan in RUNS.items():
            pool.submit(unmask, "study", plan, "-o", f"run-{name}")
    for name in RUNS:
        unmask("report", f"run-{name}", "-o", f"{name}.html")
    unmask("certify", "unmask.toml", "-o", "certificate.json")
    for name, command in TERMINALS.items():
        Path(f"{name}.html").write_text(TERMINAL + terminal(command), encoding="utf-8")


def unmask(*words: str, color: bool = False) -> str:
    """What a command says; exit codes 0 and 3 are answers, of others the end of what was said is shown."""
    before = BADGES if "badges" in words else ""
    code = f"{before}from unmask.cli import main; main(prog_name='unmask', color={color or None})"
    root = FOLDER.parents[1]
    more = {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}", "PYTHONWARNINGS": "ignore", "COLUMNS": "100"}
    told = subprocess.STDOUT
    done = subprocess.run(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=told, text=True, env=os.environ | more
    )
    if done.returncode not in (0, 3):
        sys.stderr.write(f"unmask {' '.join(words)}\n{done.stdout[-500:]}\n")
    return done.stdout


def terminal(command: Sequence[str]) -> str:
    """What a terminal shows of a command, as HTML."""
    said = html.escape(unmask(*command, color=True), quote=False)
    said = re.sub(r"\x1b\[0?m", "</span>", re.sub(r"\x1b\[([1-9]\d*)m", r'<span class="m\1">', said))
    if "made.toml" in command:
        said += "<b>$ cat made.toml</b>\n" + html.escape(Path("made.toml").read_text(encoding="utf-8"))
    words = (f'"{word}"' if re.search(r"[<>]", word) else word for word in command)
    return f"<b>$ unmask {html.escape(' '.join(words))}</b>\n{said}</pre>"


def shots(page: Page, sharp: Page) -> Iterator[tuple[str, bytes | None]]:
    """Name and picture, or None where a page lacks what is to be shot."""
    for name in PAGES:
        yield from screens(page, name)
    opened(page, "badges", 1280, 800)
    yield "badges", picture(page)
    for name, (where, what) in CHARTS.items():
        opened(sharp, where, 1280, 800)
        sharp.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        yield name, picture(sharp, sharp.locator(what).first)
    for name in TERMINALS:
        opened(page, name, 940, 800)
        yield name, picture(page, page.locator("pre").first, quality=20)
    yield from way(page)


def screens(page: Page, name: str) -> Iterator[tuple[str, bytes | None]]:
    """The first screen of a page: wide and narrow, light and dark; its first sheet of paper."""
    opened(page, name, 1280, 800)
    yield from looks(page, name)
    opened(page, name, 794, 1123)  # A4 at 96 dots an inch
    page.emulate_media(media="print", color_scheme="light")  # behind it: opening a page ends it
    page.add_style_tag(content="html { padding: 12mm; }")  # the margin of a printer
    yield f"{name}-print", picture(page)
    page.emulate_media(media="screen")


def way(page: Page) -> Iterator[tuple[str, bytes | None]]:
    """The screens of `unmask open`, from a file to a certificate."""
    command = [sys.executable, "-m", "unmask_command", "open", "--no-browser", "people.csv"]
    path = {"PYTHONPATH": str(FOLDER.parents[1] / "src")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | path) as server:
        assert server.stdout is not None
        try:
            yield from walked(page, server.stdout.readline().strip())
        finally:
            server.send_signal(signal.SIGINT)


def walked(page: Page, address: str) -> Iterator[tuple[str, bytes | None]]:
    """The way by its forms; a screen is shot when nothing runs any more."""
    busy = page.locator("[data-events]")
    page.goto(address)  # which goes on with the first step that is not done
    page.wait_for_url(lambda url: url.startswith("http") and "key" not in url)
    page.goto(page.url.rpartition("/")[0] + "/open")
    yield from looks(page, "app-open")
    page.get_by_role("button", name="Continue to roles").click()
    busy.wait_for(state="detached")
    yield from looks(page, "app-roles")
    page.get_by_role("button", name="Continue").first.click()
    page.get_by_label("Own conditions").check()
    page.get_by_label("Others in their place").fill("k >= 10\nidentity:success_probability.worst <= 0.09")
    yield from looks(page, "app-adversaries")
    page.get_by_role("button", name="Make the release").click()
    page.get_by_text("Is it acceptable?").wait_for(timeout=120_000)
    busy.wait_for(state="detached", timeout=120_000)
    yield from looks(page, "app-verdict")
    page.goto(page.url.replace("/verdict", "/protect"))
    page.get_by_role("button", name="Try protections").click()
    page.get_by_role("status").wait_for()
    busy.wait_for(state="detached", timeout=300_000)
    yield from looks(page, "app-protect")
    page.goto(page.url.replace("/protect", "/game"))
    yield from looks(page, "app-game")
    page.goto(page.url.replace("/game", "/sign"))
    yield from looks(page, "app-sign")
    yield from others(page, page.url.rpartition("/")[0])


def others(page: Page, home: str) -> Iterator[tuple[str, bytes | None]]:
    """A screen of each kind that is no table: how a network is released, how clusters are judged, and other budgets."""
    opened_at(page, home, "network.csv")
    page.goto(f"{home}/roles")
    yield from looks(page, "app-network")
    opened_at(page, home, "linked.csv")
    page.goto(f"{home}/adversaries")
    page.locator('input[name="breached<="]').fill("30")
    yield from looks(page, "app-clusters")
    opened_at(page, home, "places.csv")
    page.goto(f"{home}/roles")
    page.get_by_label("How likely each secret is").set_input_files("visits.csv")
    page.get_by_label("Budget").fill("150")
    page.get_by_label("Unit of the loss").fill("m")
    page.get_by_role("button", name="Continue").click()
    page.locator('input[name="estimation_error>="]').fill("100")
    page.get_by_role("button", name="Attack it").click()
    page.get_by_text("Is it acceptable?").wait_for(timeout=120_000)
    page.goto(f"{home}/protect")
    page.get_by_role("button", name="Try protections").click()
    page.get_by_role("heading", name="All points").wait_for(timeout=300_000)
    yield from looks(page, "app-channel")


def opened_at(page: Page, home: str, file: str) -> None:
    """Open another file."""
    page.goto(f"{home}/open")
    page.get_by_role("button", name="Open another file").click()
    page.get_by_label("Path on this computer").fill(str(Path(file).absolute()))
    page.get_by_role("button", name="Open", exact=True).first.click()
    page.get_by_role("heading", name="How the file was read").wait_for()


def looks(page: Page, name: str) -> Iterator[tuple[str, bytes | None]]:
    """What the top of a page shows in a window: wide and narrow, light and dark."""
    page.evaluate("() => { document.activeElement?.blur(); window.scrollTo(0, 0); }")
    for ending, scheme, width in LOOKS:
        page.emulate_media(media="screen", color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        yield name + ending, picture(page, quality=40)
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})


def opened(page: Page, name: str, width: int, height: int) -> None:
    """A page in a window; an empty one where its command failed."""
    page.set_viewport_size({"width": width, "height": height})
    file = Path(f"{name}.html").absolute()
    page.goto(file.as_uri() if file.is_file() else "about:blank")


def picture(page: Page, what: Locator | None = None, *, quality: int = 50) -> bytes | None:
    """The window, or something on the page; None where it is not there. quality : of 100; plain text needs little"""
    how = {"format": "webp", "quality": quality}
    if page.url == "about:blank":
        return None
    if what is not None:
        if not what.count():
            return None
        box = what.bounding_box()
        if box is None:
            return None
        how["captureBeyondViewport"] = True
        how["clip"] = {name: box[name] for name in ("x", "y", "width", "height")} | {"scale": 1}
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", how)
    return base64.b64decode(taken["data"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
