"""Every benchmark on this machine, as one table: docs/benchmarks.md.

    python benchmarks/all.py                                everything
    python benchmarks/all.py --quick                        two minutes: some races, their ratios beside those kept
    python benchmarks/all.py --only channels,graphs         some programs; the page keeps what it has of the others
    python benchmarks/all.py --only graphs -- --only large  some races of one; options after -- are the program's own
    python benchmarks/all.py --peers DIR --install-peers    packages to compare with, each in its own environment

Needs `UNMASK_DATA`. What is measured and how a new program joins: see harness.py. What a program finds replaces its
rows in rows.jsonl, from which alone the page is written; a row stays where its case was not tried, as one that is only
run by request or a peer that is not installed, and tells of the day and the machine it was tried on. A case that failed
loses its row, and so does one whose race was run on another machine; one that is no more is taken out by hand. With
--quick nothing is kept and nothing written: it is for a look before a kernel's change is committed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

import harness

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
PROGRAMS = (
    "tables",
    "limits",
    "large",
    "channels",
    "graphs",
    "unlinkability",
    "economics",
    "separation",
    "scale",
    "studies",
)
QUICK = {
    "tables": ("audit",),
    "limits": ("wide", "traces", "page"),
    "channels": ("channel", "sparse", "posterior"),
    "graphs": ("pass",),
    "economics": ("6",),
    "separation": ("anonymity",),
}
"""What `--quick` runs of each program: every kernel beside a peer, nothing that takes long to make."""

LIBRARIES = ("numpy", "scipy", "numba", "duckdb")
ROWS = HERE / "rows.jsonl"
HEAD = ("case", "ours", "peer", "ratio", "peak memory", "what it shows", "program")
LEGEND = """\
**How to read it.** Seconds are CPU seconds of the step alone, of all its threads; making the input and importing are
not counted; `wall` marks seconds by the clock. Each case ran in a fresh process, with one thread for libraries that
thread by themselves; a case below five seconds, of CPU and by the clock, ran three times, and the median is shown. A
peer is another way to get the same from the same input: another package, or the method written down in plain Python,
NumPy, SciPy or SQL. The ratio is its seconds over ours: 5 means that ours is five times faster, 0.5 that it takes
twice as long. Peak memory is that of the whole process, input and imports included; of the peer where there is one.
What it shows ends with the figures found; *same* means that both found the same up to rounding. *met* and *MISSED*
are about bars that were set beforehand. The last column names the program in `benchmarks/`, which describes its
cases.
"""
BARS_HEAD = ("work", "ours", "to reach", "nearest peer", "ratio", "reached")
SLOWER = 1.25
"""Times what the run before took, from which on a case is told to be slower."""

Row = dict[str, Any]
"""A row of a program, as `harness.rows` makes it, with the name of the program, the machine, the day, the load before
it, and the seconds that the same case took in the run before on this machine.
"""


def measured(program: str, flags: list[str]) -> Iterator[Row]:
    """The rows of a program as they come, told on stderr, each with its seconds of the last run."""
    command = [sys.executable, str(HERE / f"{program}.py"), "--json", *flags]
    here, day = machine(), f"{date.today():%Y-%m-%d}"
    about = {"program": program, "machine": here, "day": day, "load": round(os.getloadavg()[0], 1)}
    took = {of_case(row): row["seconds"] for row in kept() if (row["program"], row["machine"]) == (program, here)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for text in running.stdout:
            row = json.loads(text) | about
            print(harness.line(row), file=sys.stderr, flush=True)
            yield row | {"before": took.get(of_case(row))}
    if running.returncode:
        print(f"{program}.py ended with exit code {running.returncode}, rows may be missing", file=sys.stderr)


def quick() -> str:
    """The ratio of each peer as it is now, and as it was when the page was written."""
    was = {(row["program"], *of_case(row)): row["ratio"] for row in kept()}
    lines = [("race", "peer", "ratio", "on the page")]
    for program, groups in QUICK.items():
        for row in measured(program, ["--quick", "--only", *groups]):
            if row["is_peer"] and not row["not_done"]:
                before = was.get((program, *of_case(row)))
                lines.append((row["race"], row["case"], *(harness.number(one, 3) for one in (row["ratio"], before))))
    return aligned(lines)


def kept() -> list[Row]:
    """What was measured so far."""
    return [json.loads(text) for text in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.exists() else []


def keep(program: str, found: list[Row]) -> None:
    """Keep what a run of a program found beside the rows of the others, programs in their order."""
    old = kept()
    before = {of_case(row): row for row in old if row["program"] == program}
    untried = (harness.LEFT_OUT, harness.NOT_INSTALLED)
    new = {of_case(row): before.get(of_case(row), row) if row["not_done"] in untried else row for row in found}
    ran_on = {row["race"]: row["machine"] for row in found if row["not_done"] not in untried}
    of_program = [row for row in (before | new).values() if row["machine"] == ran_on.get(row["race"], row["machine"])]
    races = list(dict.fromkeys(row["race"] for row in of_program))
    of_program.sort(key=lambda row: races.index(row["race"]))
    rows = [*(row for row in old if row["program"] != program), *of_program]
    rows.sort(key=lambda row: PROGRAMS.index(row["program"]))
    ROWS.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def of_case(row: Row) -> tuple[str, str]:
    """What a row is about, within its program."""
    return row["race"], row["case"]


def with_first(rows: list[Row]) -> list[tuple[Row, Row]]:
    """Each row with the first of its race."""
    first: dict[tuple[str, str], Row] = {}
    return [(row, first.setdefault((row["program"], row["race"]), row)) for row in rows]


def timed(row: Row) -> str:
    """Seconds, and of what."""
    if row["not_done"]:
        return "not run"
    wall = " wall" if row["clock"] == "wall" else ""
    return f"{harness.number(row[row['clock']], 3)} s{wall}" + ("" if row["case"] == "ours" else f", {row['case']}")


def cells(row: Row, first: Row) -> tuple[str, ...]:
    """A row that was carried out, as cells of the table; the ratio is of what they show, if of two days."""
    ours, peer = (first, timed(row)) if row["is_peer"] else (row, "")
    ratio = row[row["clock"]] / first[row["clock"]] if row["is_peer"] and not first["not_done"] else None
    shows = filter(None, (row["shows"] if row is first else "", row["found"]))
    memory = f"{row['peak_mib']:,.0f} MiB"
    return row["race"], timed(ours), peer, harness.number(ratio, 3), memory, ": ".join(shows), row["program"]


def table(rows: list[tuple[Row, Row]]) -> str:
    """The rows that were carried out, as a Markdown table with aligned columns."""
    return aligned([HEAD, *(cells(row, first) for row, first in rows if not row["not_done"])])


def aligned(lines: list[tuple[str, ...]]) -> str:
    """A Markdown table, its head first."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


def reached(rows: list[Row]) -> str:
    """What was to be reached, as a table, and what keeps the cases that miss it from taking less."""
    asked = [row for row in rows if row["judged"]]
    told = [f"- *{work(row)}*: {row['limit']}." for row in asked if missed(row) and row["limit"]]
    why = ["What keeps the missed ones from less:\n", "\n".join(told) + "\n"] if told else []
    return "\n".join(
        ["## What was to be reached\n", aligned([BARS_HEAD, *(of_bar(row, rows) for row in asked)]), "", *why]
    )


def missed(row: Row) -> bool:
    """Whether a case misses a thing that is demanded of it."""
    return any(one.startswith("MISSED") for one in row["judged"])


def of_bar(row: Row, rows: list[Row]) -> tuple[str, ...]:
    """A case that something is demanded of, as cells. A demand on the ratio is one on the case that has it."""
    clock, race = row["clock"], [one for one in rows if one["race"] == row["race"] and not one["not_done"]]
    ours, peers = (race[0], [row]) if row["is_peer"] else (row, [one for one in race if one["is_peer"]])
    nearest = min(peers, key=lambda one: float(one[clock]), default=None)
    ratio = harness.number(nearest[clock] / ours[clock], 3) if nearest else ""
    took = f"{harness.number(ours[clock], 3)} s{' wall' * (clock == 'wall')}, {ours['peak_mib']:,.0f} MiB"
    demands = ", ".join(one.partition(": ")[2].removeprefix("at most ") for one in row["judged"])
    return work(ours), took, demands, timed(nearest) if nearest else "", ratio, "MISSED" if missed(row) else "met"


def work(row: Row) -> str:
    """What a case does."""
    return row["race"] if row["case"] == "ours" else f"{row['race']}, {row['case']}"


def slower(rows: list[Row]) -> str:
    """Which cases took longer than in the run before of their program."""
    found = [
        f"{work(row)} ({harness.number(row['before'], 3)} s before, now {harness.number(row['seconds'], 3)})"
        for row in rows
        if row["before"] and row["seconds"] and row["seconds"] > max(SLOWER * row["before"], row["before"] + 0.05)
    ]
    return f"Slower by a quarter or more than in the run before: {'; '.join(found)}.\n" if found else ""


PICTURE = """```{picture} Cases with a peer, by program, from the table below: right of 1 unmask takes less time.
from docs.tallies import ratios

ratios()
```
"""


def machine() -> str:
    """The machine, in words."""
    cpuinfo = Path("/proc/cpuinfo")
    about = cpuinfo.read_text() if cpuinfo.exists() else ""
    model = next(
        (text.split(":")[1].strip() for text in about.splitlines() if "model name" in text), platform.machine()
    )
    return f"{os.cpu_count() or 1} cores of {model}, {platform.system()}"


def marked(rows: list[Row]) -> list[Row]:
    """The same with a mark on what was raced on another machine than the first."""
    mark = marks(rows)
    return [row | {"race": f"{row['race']}{mark[row['machine']]}"} for row in rows]


def marks(rows: list[Row]) -> dict[str, str]:
    """By machine: none for the first, daggers for others."""
    return {one: "\u2020" * number for number, one in enumerate(dict.fromkeys(row["machine"] for row in rows))}


def measured_on(rows: list[Row]) -> str:
    """The machines, how busy each was before a run, and what is installed."""
    runs: dict[str, dict[str, None]] = {}
    for row in rows:
        runs.setdefault(row["machine"], {})[f"{row['program']} {row['day']} ({row['load']:g})"] = None
    told = "\n".join(
        f"- {mark}{' ' if mark else ''}{one}: {', '.join(runs[one])}." for one, mark in marks(rows).items()
    )
    peers = sorted({" with ".join(row["packages"]) for row in rows if row["packages"] and not row["not_done"]})
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("unmask", *LIBRARIES))
    return f"""\
**Machines**, with the programs, the day on which each ran, and the load before it:

{told}

Where the load was above half a core, others shared the machine: CPU seconds are too long by a tenth, and by up to
twice where it was above four. Python {platform.python_version()}, {versions}.
Packages compared with: {", ".join(peers) or "none"}.
"""


def page(rows: list[Row]) -> str:
    """The whole file."""
    on = measured_on(rows)
    rows = marked(rows)
    left_out = [f"{row['race']}, {row['case']} ({row['not_done']})" for row in rows if row["not_done"]]
    parts = (
        "# Benchmarks\n",
        f"Written by `python benchmarks/all.py` on {date.today():%Y-%m-%d}.\n",
        reached(rows),
        "## All cases\n",
        on,
        LEGEND,
        PICTURE,
        table(with_first(rows)) + "\n",
        slower(rows),
        f"Not run: {'; '.join(left_out)}.\n" if left_out else "",
    )
    return "\n".join(filter(None, parts))


def main() -> None:
    """Read the command line, run the programs, write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"some of {','.join(PROGRAMS)}")
    parser.add_argument("--quick", action="store_true", help="some races and their ratios, nothing kept")
    parser.add_argument("--peers", help="folder with an environment for each peer")
    parser.add_argument("--install-peers", action="store_true", help="make the environments that --peers lacks")
    parser.add_argument("-o", "--output", type=Path, default=PAGE, help=f"default docs/{PAGE.name}")
    parser.add_argument("more", nargs="*", help="after --: options of the one program that --only names")
    options = parser.parse_args()
    programs = options.only.split(",") if options.only else PROGRAMS
    if unknown := sorted(set(programs) - set(PROGRAMS)):
        parser.error(f"--only {','.join(unknown)}: unknown, expected some of {','.join(PROGRAMS)}")
    if options.install_peers and not options.peers:
        parser.error("--install-peers needs --peers DIR, where the environments go")
    if options.more and len(programs) != 1:
        parser.error("options after -- are of one program, expected --only with its name")
    if options.quick:
        print(quick())
        return
    flags = ["--install-peers"] * options.install_peers
    flags += (["--peers", options.peers] if options.peers else []) + options.more
    for program in programs:
        keep(program, list(measured(program, flags)))
        options.output.write_text(page(kept()), encoding="utf-8")
    print(reached(kept()))


if __name__ == "__main__":
    main()
