"""Every benchmark on this machine, as one table: docs/benchmarks.md.

    python benchmarks/all.py                                everything, an hour or two
    python benchmarks/all.py --quick                        no case of more than about a minute; a quarter of an hour
    python benchmarks/all.py --only channels,graphs         some programs; writes no file unless -o says so
    python benchmarks/all.py --peers DIR --install-peers    packages to compare with, each in its own environment

Needs `UNMASK_DATA`. What is measured and how a new program joins: see harness.py. The file is written anew with
every row, so that a run that is stopped leaves what it has.
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
PROGRAMS = ("tables", "channels", "graphs", "unlinkability", "economics", "separation", "scale", "studies")
LIBRARIES = ("numpy", "scipy", "numba", "duckdb")
HEAD = ("case", "ours", "peer", "ratio", "peak memory", "what it shows", "program")
LEGEND = """\
**How to read it.** Seconds are CPU seconds of the step alone, of all its threads; making the input and importing are
not counted; `wall` marks seconds by the clock. Each case ran in a fresh process, with one thread for libraries that
thread by themselves; a case below five seconds{quick} ran three times, and the median is
shown. A peer is another way to get the same from the same input: another package, or the method written down in plain
Python, NumPy, SciPy or SQL. The ratio is its seconds over ours: 5 means that ours is five times faster, 0.5 that it
takes twice as long. Peak memory is that of the whole process, input and imports included; of the peer where there is
one. What it shows ends with the figures found; *same* means that both found the same up to rounding. *met* and
*MISSED* are about bars that were set beforehand. The last column names the program in `benchmarks/`, which describes
its cases.
"""
STOPPED = f"The run was stopped after these rows; the programs are {', '.join(PROGRAMS)}, in this order.\n"
Row = dict[str, Any]
"""A row of a program, as `harness.rows` makes it, and the name of the program."""


def rows_of(program: str, flags: list[str]) -> Iterator[tuple[Row, Row]]:
    """The rows of a program as they come, each with the first of its race; told on stderr."""
    command = [sys.executable, str(HERE / f"{program}.py"), "--json", *flags]
    first: Row = {"race": None}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for text in running.stdout:
            row = json.loads(text) | {"program": program}
            first = first if first["race"] == row["race"] else row
            print(harness.line(row), file=sys.stderr, flush=True)
            yield row, first
    if running.returncode:
        print(f"{program}.py ended with exit code {running.returncode}, rows may be missing", file=sys.stderr)


def timed(row: Row) -> str:
    """Seconds, and of what."""
    if row["not_done"]:
        return "not run"
    wall = " wall" if row["clock"] == "wall" else ""
    return f"{harness.number(row[row['clock']], 3)} s{wall}" + ("" if row["case"] == "ours" else f", {row['case']}")


def cells(row: Row, first: Row) -> tuple[str, ...]:
    """A row that was carried out, as cells of the table."""
    ours, peer = (first, timed(row)) if row["is_peer"] else (row, "")
    shows = filter(None, (row["shows"] if row is first else "", row["found"]))
    memory = f"{row['peak_mib']:,.0f} MiB"
    return row["race"], timed(ours), peer, harness.number(row["ratio"], 3), memory, ": ".join(shows), row["program"]


def table(rows: list[tuple[Row, Row]]) -> str:
    """The rows that were carried out, as a Markdown table with aligned columns."""
    lines = [HEAD, *(cells(row, first) for row, first in rows if not row["not_done"])]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


PICTURE = """```{picture} Cases with a peer, by program, from the table below: right of 1 unmask takes less time.
from docs.tallies import ratios

ratios()
```
"""


def machine(load: float, rows: list[tuple[Row, Row]]) -> str:
    """The machine, how busy it was before the run, and what is installed."""
    import unmask

    cpuinfo = Path("/proc/cpuinfo")
    about = cpuinfo.read_text() if cpuinfo.exists() else ""
    model = next(
        (text.split(":")[1].strip() for text in about.splitlines() if "model name" in text), platform.machine()
    )
    cores = os.cpu_count() or 1
    busy = "other programs shared it, so seconds may be too long by a tenth to a half"
    peers = sorted({" with ".join(row["packages"]) for row, _ in rows if row["packages"] and not row["not_done"]})
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    return f"""\
**Machine.** {cores} cores of {model}, {platform.system()}. The load was {load:.1f} before the run:
{busy if load > cores / 4 else "it did nothing else"}. Python {platform.python_version()},
unmask {unmask.__version__}, {versions}. Packages compared with: {", ".join(peers) or "none"}.
"""


def page(rows: list[tuple[Row, Row]], options: argparse.Namespace, load: float, *, finished: bool) -> str:
    """The whole file."""
    flag, counted = (" --quick", " (input and imports counted)") if options.quick else ("", "")
    left_out = [f"{row['race']}, {row['case']} ({row['not_done']})" for row, _ in rows if row["not_done"]]
    parts = (
        "# Benchmarks\n",
        f"Written by `python benchmarks/all.py{flag}` on {date.today():%Y-%m-%d}.\n",
        machine(load, rows),
        LEGEND.format(quick=counted),
        PICTURE,
        table(rows) + "\n",
        f"Not run: {'; '.join(left_out)}.\n" if left_out else "",
        "" if finished else STOPPED,
    )
    return "\n".join(filter(None, parts))


def main() -> None:
    """Read the command line, run the programs, write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"some of {','.join(PROGRAMS)}")
    parser.add_argument("--quick", action="store_true", help="leave out cases of more than about a minute")
    parser.add_argument("--peers", help="folder with an environment for each peer")
    parser.add_argument("--install-peers", action="store_true", help="make the environments that --peers lacks")
    parser.add_argument("-o", "--output", type=Path, help=f"default docs/{PAGE.name}; with --only none")
    options = parser.parse_args()
    programs = options.only.split(",") if options.only else PROGRAMS
    if unknown := sorted(set(programs) - set(PROGRAMS)):
        parser.error(f"--only {','.join(unknown)}: unknown, expected some of {','.join(PROGRAMS)}")
    if options.install_peers and not options.peers:
        parser.error("--install-peers needs --peers DIR, where the environments go")
    flags = ["--quick"] * options.quick + ["--install-peers"] * options.install_peers
    flags += ["--peers", options.peers] if options.peers else []
    output = options.output or (None if options.only else PAGE)
    load = os.getloadavg()[0]
    rows: list[tuple[Row, Row]] = []
    for program in programs:
        for pair in rows_of(program, flags):
            rows.append(pair)
            if output:
                output.write_text(page(rows, options, load, finished=False), encoding="utf-8")
    if output:
        output.write_text(page(rows, options, load, finished=True), encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
