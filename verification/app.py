"""`unmask open` under abuse: `python verification/app.py` (ten minutes on two cores).

A server is started as a user starts it, and asked over its socket: other hosts, other origins, wrong keys, forms of
other sites, an upload that says it has 10 GB, a Parquet file of 300 million rows in some kilobytes. 1,000 generated
requests end in a page. A server is killed in the middle of a study: its commands end with it, and the next server
offers the work and finishes the study without running a cell again. A server answers within a second of its start, and
an idle one takes no time of the processor. A table of 1,000,000 rows and 40 columns is opened, guessed, protected and
attacked, 20,000 people drawn at random first and then everybody, with what it takes: in seconds on the clock, which say
what they should on two cores without other work, in seconds of the processor, and in memory. A real browser takes
clusters, a channel and a network from the file to the certificate, and each screen is looked at by axe-core, light and
dark, at 1280 and 400 pixels. A German workbook goes the same way with a hierarchy, once by the keyboard alone and once
by touch at 400 pixels, to a release that is a workbook again; `--shots FOLDER` keeps pictures.
`--part abuse|requests|kill|idle|large|screens|flow` runs one alone.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import httpx
from show import Section, Verdict, list_serious_faults, main, open_browser

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.app.hospital import write_hospital
from tests.app.requests import generated
from tests.workbooks import write_workbook


class User:
    """A browser of the server that a process is, and the form that it is on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "unmask_command", "open", "--no-browser"]
        room = {**os.environ, "TMPDIR": str(folder)}
        room.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's Python compiles a module once, and not in every process
        start = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=room)
        assert self.process.stdout is not None
        self.file = Path(self.process.stdout.readline().strip().removeprefix("file://"))
        self.started = time.monotonic() - start
        self.address = re.findall(r'href="(http[^"]+)"', self.file.read_text(encoding="utf-8"))[0]
        self.home = self.address.partition("/?")[0]
        limits = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(base_url=self.home, follow_redirects=True, timeout=300, limits=limits)
        self.client.get(self.address)  # sets the cookie; a script leads browsers on
        self.page = self.client.get("/open")
        self.answered = time.monotonic() - start

    def visit(self, path: str) -> httpx.Response:
        """Go to a page."""
        self.page = self.client.get(path)
        return self.page

    def send(self, to: str, /, **fields: Any) -> httpx.Response:
        """Send a form with what the page has in it."""
        hidden = dict(re.findall(r'name="(form|version)" value="([^"]*)"', self.page.text))
        self.page = self.client.post(to, data={**hidden, **fields})
        return self.page

    def start_study(self) -> None:
        """Open a table, take what is guessed, and start the study."""
        self.send("/open", do="open", path=str(write_hospital(self.folder / "hospital.csv", 400)))
        while "role-0" not in self.visit("/roles").text:
            time.sleep(0.2)
        chosen = dict(re.findall(r'name="(role-\d+)" value="([^"]+)" checked', self.page.text))
        self.send("/roles", **chosen, do="continue")
        self.send("/adversaries", policy="ema-0.09", do="apply")
        self.visit("/protect")
        self.send("/protect", do="start")


def resolve_localhost() -> None:
    """Resolve names below localhost to this machine, as browsers do (RFC 6761) and the C library may not."""
    resolve = socket.getaddrinfo

    def resolve_name(host: Any, *arguments: Any, **options: Any) -> Any:
        return resolve("127.0.0.1" if str(host).endswith(".localhost") else host, *arguments, **options)

    socket.getaddrinfo = resolve_name


@contextmanager
def open_app(folder: Path) -> Iterator[User]:
    """Start a server, and end it as a user does."""
    visitor = User(folder)
    try:
        yield visitor
    finally:
        visitor.process.send_signal(signal.SIGINT)
        visitor.process.wait(30)


def abuse() -> Section:
    """Check the refusal of hostile requests."""
    with tempfile.TemporaryDirectory() as folder, open_app(Path(folder)) as visitor:
        bomb = Path(folder) / "bomb.parquet"
        duckdb.sql(f"copy (select 1 as a from range(300000000)) to '{bomb}' (format parquet)")
        port, bare = visitor.home.rpartition(":")[2], httpx.Client(base_url=visitor.home, timeout=60)
        answers = {
            "no key": (bare.get("/open").status_code, 403),
            "wrong key": (bare.get("/?key=wrong").status_code, 403),
            "another host": (visitor.client.get("/open", headers={"host": f"evil.example:{port}"}).status_code, 421),
            "another origin": (
                visitor.client.post("/open", headers={"origin": "http://evil.example"}).status_code,
                403,
            ),
            "a form without the secret": (visitor.client.post("/open", data={"do": "demo"}).status_code, 403),
            "path traversal": (visitor.client.get("/files/..%2f..%2fetc%2fpasswd").status_code, 404),
            "10 GB upload": (_send_upload(10 << 30, visitor), 413),
            f"Parquet of {bomb.stat().st_size:,} bytes": (visitor.send("/open", path=str(bomb)).status_code, 422),
        }
        private = [path.stat().st_mode & 0o077 for path in Path(folder).glob("unmask-open-*")]
    rows = tuple((name, f"{status}", f"{expected}") for name, (status, expected) in answers.items())
    n_expected = sum(status == expected for status, expected in answers.values())
    return Section(
        "Abuse",
        ("asked", "answered", "expected"),
        rows,
        verdicts=(
            Verdict(
                "every abuse ends in a page that refuses it",
                f"{len(answers)}",
                f"{n_expected}",
                n_expected == len(answers),
            ),
            Verdict("the folder is its owner's alone", "0 bits", f"{sum(private)} bits", private == [0]),
        ),
    )


def _send_upload(size: int, visitor: User) -> int:
    """Send an upload with this declared size, and return the status."""
    connection = HTTPConnection(visitor.home.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", "/open")
    connection.putheader("Content-Type", "multipart/form-data; boundary=b")
    connection.putheader("Content-Length", str(size))
    connection.putheader("Cookie", "; ".join(f"{name}={value}" for name, value in visitor.client.cookies.items()))
    connection.endheaders()
    return connection.getresponse().status


def requests() -> Section:
    """Send a thousand generated requests."""
    with tempfile.TemporaryDirectory() as folder, open_app(Path(folder)) as visitor:
        visitor.client.follow_redirects = False
        table, codes, hidden = write_hospital(Path(folder) / "hospital.csv", 40), Counter[str](), {}
        for number, request in enumerate(generated(1_000, seed=0)):
            if number % 20 == 0:
                visitor.visit("/open")
                visitor.send("/open", do="another")
                visitor.send("/open", do="open", path=str(table))
                hidden = dict(re.findall(r'name="(form)" value="([^"]*)"', visitor.visit("/open").text))
            if request.pop("whole", False):
                request["data"] = {**request["data"], **hidden}
            text = str(request)[:300]
            try:
                codes[str(visitor.client.request(**request).status_code)] += 1
            except httpx.ReadError:
                codes["cut off"] += 1
                print(text)
            except (httpx.InvalidURL, httpx.LocalProtocolError):
                codes["no request"] += 1  # none that a browser could send
    failed = sum(n for code, n in codes.items() if code.startswith("5"))
    rows = tuple((code, f"{n:,}") for code, n in sorted(codes.items()))
    claim = Verdict("1,000 generated requests end in a page", "0 of 5xx", f"{failed} of 5xx", not failed)
    return Section("Generated requests", ("status", "requests"), rows, verdicts=(claim,))


def kill() -> Section:
    """Kill a server in the middle of a study."""
    with tempfile.TemporaryDirectory() as folder:
        first = User(Path(folder))
        first.start_study()
        (remaining,) = Path(folder).glob("unmask-open-*")
        journal = remaining / "study" / "journal.jsonl"
        while _lines(journal) < 5:
            time.sleep(0.2)
        first.process.kill()
        first.process.wait()
        deadline = time.monotonic() + 30
        while _children(remaining) and time.monotonic() < deadline:
            time.sleep(0.2)
        alive, n_before = len(_children(remaining)), _lines(journal)
        with open_app(Path(folder)) as second:
            offered = "Continue hospital.csv" in second.visit("/open").text
            second.send("/open", do="resume", folder=remaining.name)
            second.visit("/protect")
            second.send("/protect", do="again")
            while json.loads((remaining / "jobs" / "study.json").read_text())["state"] == "running":
                time.sleep(0.5)
            state = json.loads((remaining / "jobs" / "study.json").read_text())["state"]
            keys = [json.loads(line.partition(" ")[2])["cell"] for line in journal.read_text().splitlines()]
        is_removed = not remaining.exists()
    twice = len(keys) - len(set(keys))
    return Section(
        "A server that is killed",
        ("", "cells"),
        (("finished when it was killed", f"{n_before}"), ("finished in the end", f"{len(keys)}")),
        verdicts=(
            Verdict("its commands end with it", "0 alive", f"{alive} alive", not alive),
            Verdict("the next server offers the work", "yes", "yes" if offered else "no", offered),
            Verdict("the study goes on where it was", "0 run twice", f"{twice} run twice", not twice),
            Verdict("and ends", "finished", state, state == "finished"),
            Verdict("nothing is left at the end", "gone", "gone" if is_removed else "there", is_removed),
        ),
    )


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _children(folder: Path) -> list[int]:
    """Return the processes that work in a folder."""
    processes = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            processes += [int(link.parent.name)] if link.resolve() == folder else []
        except OSError:
            continue
    return processes


def idle() -> Section:
    """Measure the start of a server, and an idle server."""
    with tempfile.TemporaryDirectory() as folder, open_app(Path(folder)) as visitor:
        seconds = _measure_cpu(visitor)
        time.sleep(20)
        share = (_measure_cpu(visitor) - seconds) / 20
    return Section(
        "The start, and an idle server",
        ("", ""),
        (
            ("seconds to the address", f"{visitor.started:.2f}"),
            ("seconds to the first answered page", f"{visitor.answered:.2f}"),
            ("seconds of the processor until then", f"{seconds:.2f}"),
            ("share of one processor when idle", f"{share:.2%}"),
        ),
        verdicts=(
            Verdict("it answers soon", "below 1 CPU s", f"{seconds:.2f} CPU s", seconds < 1),
            Verdict("it idles", "below 1 %", f"{share:.2%}", share < 0.01),
        ),
    )


def _measure_cpu(visitor: User) -> float:
    """Return CPU seconds of a server and of its commands that have ended."""
    fields = Path(f"/proc/{visitor.process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


KNOWN, SECRET = ("age_0", "sex_0", "zip_0"), "group_0"
"""Columns of the large table that an outsider knows, and the secret; others are dropped."""

JUDGED, FIRST = "Is it acceptable?", "Not the verdict yet"
"""Text of a verdict, and of a preliminary verdict on people drawn at random."""

PATIENCE = 600
"""Longest wait for the verdict on the large table, in seconds."""


def write_large(path: Path) -> list[str]:
    """Write 1,000,000 rows of an identifier, dates, moments, codes, names and numbers; return the 40 names."""
    kinds = {
        "date": ("date '1935-01-01' + cast(floor(random() * 28000) as int)", 4),
        "moment": ("timestamp '2023-01-01' + interval (cast(floor(random() * 525600) as int)) minute", 1),
        "zip": ("format('{:05d}', 1000 + cast(floor(power(random(), 2) * 3000) as int))", 4),
        "code": ("chr(65 + cast(floor(power(random(), 2) * 20) as int)) || cast(10 + floor(random() * 90) as int)", 6),
        "group": ("['north', 'south', 'east', 'west', 'middle', 'none'][1 + cast(floor(random() * 6) as int)]", 6),
        "age": ("cast(floor(random() * 100) as int)", 6),
        "cost": ("round(exp(5 + random() * 4), 2)", 6),
        "sex": ("case when random() < 0.1 then null else ['f', 'm'][1 + cast(floor(random() * 2) as int)] end", 3),
        "number": ("cast(floor(random() * 1000000) as int)", 3),
    }
    columns = {f"{name}_{number}": drawn for name, (drawn, n) in kinds.items() for number in range(n)}
    cells = ", ".join(f"{drawn} as {name}" for name, drawn in columns.items())
    with duckdb.connect() as connection:
        connection.execute("set threads = 1; select setseed(0.3)")
        people = "format('{:08d}', (i * 7919) % 100000007) as person"
        connection.execute(f"copy (select {people}, {cells} from range(1000000) t(i)) to '{path}' (header)")
    return ["person", *columns]


def large() -> Section:
    """Measure a million people, from the file to the verdict."""
    rows: list[tuple[str, str, str, str]] = []
    verdicts = []
    with tempfile.TemporaryDirectory() as folder, open_app(Path(folder)) as visitor:
        path = Path(folder) / "large.csv"
        names = write_large(path)

        def step(name: str, bar: float | None, act: Callable[[], bool]) -> None:
            start, cpu, peak, done = time.monotonic(), _measure_cpu(visitor), [0.0, 0.0], False
            while not done and time.monotonic() - start < PATIENCE:
                done = act()
                peak = [max(pair) for pair in zip(peak, _memory(visitor), strict=True)]
                time.sleep(0.1)
            seconds = time.monotonic() - start
            rows.append(
                (name, f"{seconds:.1f}", f"{_measure_cpu(visitor) - cpu:.1f}", " + ".join(f"{gib:.2f}" for gib in peak))
            )
            if bar is not None:
                verdicts.append(Verdict(name, f"within {bar:g} s", f"{seconds:.1f} s", done and seconds <= bar))
            verdicts.append(Verdict(f"memory: {name}", "below 1.5 GiB", f"{sum(peak):.2f} GiB", sum(peak) < 1.5))

        step("preview", 2, lambda: "How the file was read" in visitor.send("/open", do="open", path=str(path)).text)
        step("progress of counting", 5, lambda: "Reading and counting" in visitor.visit("/roles").text)
        step("role cards", None, lambda: "role-0" in visitor.visit("/roles").text)
        roles = dict.fromkeys(KNOWN, "quasi-identifier") | {SECRET: "sensitive"}
        visitor.send(
            "/roles",
            **{f"role-{position}": roles.get(name, "drop") for position, name in enumerate(names)},
            do="continue",
        )
        visitor.send("/adversaries", policy="ema-0.09", do="apply")
        step("first page of a verdict", 10, lambda: FIRST in visitor.visit("/verdict").text)
        step(
            "verdict on everybody",
            None,
            lambda: JUDGED in visitor.visit("/verdict").text and FIRST not in visitor.page.text,
        )
    heads = ("", "seconds", "seconds of the processor", "GiB of the server + its commands")
    return Section("1,000,000 rows of 40 columns", heads, tuple(rows), verdicts=tuple(verdicts))


def _memory(visitor: User) -> list[float]:
    """Return peak GiB of the server and of its commands."""
    return [
        _peak_memory(visitor.process.pid),
        sum(map(_peak_memory, _children(next(visitor.folder.glob("unmask-open-*"))))),
    ]


def _peak_memory(process: int) -> float:
    try:
        match = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0.0
    return int(match[1]) / 2**20 if match else 0.0


def screens() -> Section:
    """Open every screen of files that are no tables, in a browser."""
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        rows = tuple(line for name in KINDS for line in _walk(browser, Path(folder), name))
    serious, wide = sum(int(line[2]) for line in rows), sum(int(line[3]) for line in rows)
    return Section(
        "Screens",
        ("file", "screen", "serious faults", "beyond the edge"),
        rows,
        verdicts=(
            Verdict("no screen has a serious fault", "0", f"{serious}", not serious),
            Verdict("no screen is wider than a phone", "0", f"{wide}", not wide),
        ),
    )


VISITS = "secret,probability\nhome,0.4\nwork,0.3\nshop,0.2\ngym,0.1\n"

PLACES = "place,x,y\nhome,0,0\nwork,100,0\nshop,0,300\ngym,200,200\n"

KINDS = {
    "clusters.csv": ("item,person,cluster\n" + "".join(f"r{n},p{n // 3},c{n // 4}\n" for n in range(60)), "breached<="),
    "places.csv": (PLACES, "estimation_error>="),
    "calls.csv": (
        "caller,callee\n" + "".join(f"{n},{(n * n + step) % 90}\n" for n in range(90) for step in (5, 7, 11, 13)),
        "recall<=",
    ),
}
"""File -> its content, and a limit of its policy."""


def _walk(browser: Any, folder: Path, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Go from a file to its certificate; yield serious faults and overflows of each screen."""
    (folder / name).write_text(KINDS[name][0])
    (folder / "visits.csv").write_text(VISITS)
    with open_app(folder) as visitor:
        page = browser.new_page()
        page.set_default_timeout(300_000)
        page.goto(visitor.file.as_uri())
        page.wait_for_url(lambda url: url.startswith("http") and "key" not in url)
        page.get_by_label("Path on this computer").fill(str(folder / name))
        page.get_by_role("button", name="Open", exact=True).first.click()
        yield (name, "open", *_faults(page))
        page.get_by_role("button", name="Continue to").click()
        if name == "places.csv":
            page.get_by_label("Largest expected distortion").fill("60")
            page.get_by_label("Probability of each secret").set_input_files(folder / "visits.csv")
        yield (name, "roles", *_faults(page))
        page.get_by_role("button", name="Continue").click()
        page.locator(f'input[name="{KINDS[name][1]}"]').fill("50")
        yield (name, "adversaries", *_faults(page))
        page.get_by_role("button", name="Attack it").click()
        page.get_by_text("Is it acceptable?").wait_for(timeout=120_000)
        yield (name, "verdict", *_faults(page))
        if page.get_by_role("link", name="Try protections").count():
            page.get_by_role("link", name="Try protections").click()
            page.get_by_role("button", name="Try protections").click()
            page.get_by_role("heading", name="All points").wait_for(timeout=300_000)
            page.locator("[data-events]").wait_for(state="detached", timeout=300_000)
            yield (name, "protect", *_faults(page))
        page.goto(f"{visitor.home}/sign")
        page.get_by_role("button", name="Certify").click()
        page.get_by_role("button", name="Certify again").wait_for(timeout=120_000)
        yield (name, "sign", *_faults(page))
        page.close()


def _faults(page: Any, shot: Path | None = None) -> tuple[str, str]:
    serious = wide = 0
    window = page.viewport_size
    page.wait_for_load_state()
    for scheme in ("light", "dark"):
        for width in (1280, 400):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            found = list_serious_faults(page)
            serious += len(found)
            for fault in found:
                print(f"{page.url.rpartition('/')[2]}, {width} px, {scheme}: {fault}", file=sys.stderr)
            wide += page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            if shot is not None:
                page.screenshot(path=f"{shot}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size(window)
    return f"{serious}", f"{int(wide)}"


class Keyboard:
    """A user of a page without a mouse."""

    window: ClassVar[dict[str, Any]] = {"viewport": {"width": 1280, "height": 800}}

    def __init__(self, page: Any) -> None:
        self.page = page

    def reach(self, control: Any) -> None:
        """Press Tab until the control has the focus."""
        control.wait_for()
        element = control.element_handle()
        for _ in range(MAX_TABS):
            if self.page.evaluate("element => element === document.activeElement", element):
                return
            self.page.keyboard.press("Tab")
        raise RuntimeError(f"the keyboard does not reach {control}")

    def press(self, control: Any) -> None:
        """Press a button, a link or a summary."""
        self.reach(control)
        self.page.keyboard.press("Enter")

    def type(self, control: Any, text: str) -> None:
        """Type a text in a box."""
        self.reach(control)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def tick(self, box: Any) -> None:
        """Tick a check box."""
        self.reach(box)
        self.page.keyboard.press("Space")

    def choose(self, radios: Any, index: int) -> None:
        """Choose a radio button: Tab reaches the checked one or the first of a group, and arrows the others."""
        checked = radios.and_(self.page.locator(":checked"))
        self.reach(checked if checked.count() else radios.first)
        for _ in range(radios.count()):
            if radios.nth(index).is_checked():
                return
            self.page.keyboard.press("ArrowDown")
        raise RuntimeError(f"arrows do not reach radio button {index}")


class Touch:
    """A user of a phone."""

    window: ClassVar[dict[str, Any]] = {"viewport": {"width": 400, "height": 800}, "has_touch": True}

    def __init__(self, page: Any) -> None:
        self.page = page

    def press(self, control: Any) -> None:
        """Tap a button, a link or a summary."""
        control.tap()

    def type(self, control: Any, text: str) -> None:
        """Type a text in a box."""
        control.tap()
        control.fill(text)

    def tick(self, box: Any) -> None:
        """Tick a check box."""
        box.tap()

    def choose(self, radios: Any, index: int) -> None:
        """Tap a radio button."""
        radios.nth(index).tap()


MAX_TABS = 400
"""Presses of Tab after which a control counts as out of reach."""

GERMAN = (
    "Patientennummer",
    "Geburtsdatum",
    "Geschlecht",
    "PLZ",
    "Aufnahmedatum",
    "Station",
    "Kasse",
    "Diagnose",
    "Kosten",
)
"""Headings of the workbook."""


def write_german_workbook(path: Path, n: int) -> None:
    """Write a hospital's table as a German workbook, with dates and numbers as such."""
    write_hospital(path.with_suffix(".csv"), n)
    lines = path.with_suffix(".csv").read_text(encoding="cp1252").splitlines()[1:]
    rows: list[list[Any]] = [list(GERMAN)]
    for line in lines:
        cells: list[Any] = line.split(";")
        for index in (1, 4):
            cells[index] = datetime.strptime(cells[index], "%d.%m.%Y").date()
        cells[8] = float(cells[8].replace(",", "."))
        rows.append(cells)
    write_workbook(path, Entlassungen=rows)


def flow(shots: Path | None = None) -> Section:
    """Take a German workbook to the certificate, by keyboard and by touch."""
    rows: list[tuple[str, str, str, str]] = []
    verdicts = []
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        write_german_workbook(Path(folder) / "Entlassungen.xlsx", 240)
        for kind in (Keyboard, Touch):
            name = kind.__name__.lower()
            with open_app(Path(folder)) as visitor:
                page = browser.new_context(accept_downloads=True, **kind.window).new_page()
                page.set_default_timeout(120_000)
                rows += ((name, *line) for line in _go(kind(page), visitor, Path(folder), shots and shots / name))
                page.close()
            book = Path(folder) / "release.xlsx"
            written, n_rows = _read_release(book)
            verdicts.append(Verdict(f"{name}: a workbook of every person", "240 rows", f"{n_rows} rows", n_rows == 240))
            in_groups = {"operativ"} <= written["Station"] <= {"operativ", "Innere", "Kardiologie", "Pädiatrie", "*"}
            said = f"{len(written['Station'])} wards"
            verdicts.append(Verdict(f"{name}: wards are in the groups of the hierarchy", "all", said, in_groups))
            book.unlink()
    serious, wide = sum(int(line[2]) for line in rows), sum(int(line[3]) for line in rows)
    verdicts.append(Verdict("no screen has a serious fault", "0", f"{serious}", not serious))
    verdicts.append(Verdict("no screen is wider than its window", "0", f"{wide}", not wide))
    heads = ("user", "screen", "serious faults", "beyond the edge")
    return Section("A German workbook, from the file to the certificate", heads, tuple(rows), verdicts=tuple(verdicts))


def _go(user: Any, visitor: User, folder: Path, shots: Path | None) -> Iterator[tuple[str, str, str]]:
    """Go from the file to the certificate; yield serious faults and overflows of each screen."""
    page = user.page
    buttons = partial(page.get_by_role, "button")

    def look(screen: str) -> tuple[str, str, str]:
        return (screen, *_faults(page, None if shots is None else shots.with_name(f"{shots.name}-{screen}")))

    page.goto(visitor.file.as_uri())
    page.wait_for_url(lambda url: url.startswith("http") and "key" not in url)
    user.type(page.get_by_label("Path on this computer"), str(folder / "Entlassungen.xlsx"))
    user.press(buttons(name="Open", exact=True).first)
    buttons(name="Continue to").wait_for()
    yield look("open")
    user.press(buttons(name="Continue to"))
    buttons(name="Continue").first.wait_for()
    yield look("roles")
    card = page.locator(".card", has=page.get_by_role("heading", name="Station"))
    user.press(card.locator("summary"))
    user.press(buttons(name=re.compile("Make a hierarchy.*Station")))
    user.press(buttons(name="Make the hierarchy"))
    for ward in ("Chirurgie", "Urologie"):
        user.tick(page.locator(".board").get_by_label(ward))
    user.type(page.get_by_label("Name", exact=True), "operativ")
    user.press(buttons(name="Move to group"))
    page.get_by_label("Name of group operativ").wait_for()
    user.choose(page.locator("[name=finest]"), 1)
    user.press(buttons(name="Use this level"))
    page.locator("[name=finest][value='1'][checked]").wait_for()
    yield look("hierarchy")
    user.press(page.get_by_role("link", name="Back to the roles"))
    user.press(buttons(name="Continue").first)
    user.tick(page.get_by_role("checkbox", name="order reader"))
    user.choose(page.locator("[name=policy]"), page.locator("[name=policy]").count() - 1)
    user.type(page.locator("[name=require]"), "identity:success_probability.worst <= 0.1")
    yield look("adversaries")
    user.press(buttons(name="Make the release and attack it"))
    page.get_by_text("Is it acceptable?").wait_for()
    page.locator("[data-events]").wait_for(state="detached")
    yield look("verdict")
    user.press(page.get_by_role("link", name="Sign and download"))
    user.type(page.get_by_label("Purpose"), "Planung")
    user.press(buttons(name="Certify"))
    buttons(name="Certify again").wait_for()
    yield look("sign")
    with page.expect_download() as download:
        user.press(page.get_by_label("Excel: download the release"))
    download.value.save_as(folder / "release.xlsx")
    user.press(page.get_by_role("link", name="Price"))
    buttons(name="Compare releases").wait_for()
    yield look("price")


def _read_release(path: Path) -> tuple[dict[str, set[str]], int]:
    """Return the values of each column of a workbook, as a spreadsheet shows them, and the number of rows."""
    from python_calamine import CalamineWorkbook

    heads, *rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    return {str(head): {str(row[index]) for row in rows} for index, head in enumerate(heads)}, len(rows)


PARTS = {
    "abuse": abuse, "requests": requests, "kill": kill, "idle": idle, "large": large, "screens": screens, "flow": flow,
}  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    resolve_localhost()
    sys.exit(main(__doc__, PARTS, shots=Path))
