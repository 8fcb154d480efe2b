"""Every benchmark on this machine: docs/benchmarks.md has the summary, docs/benchmark-cases.md all cases.

    python benchmarks/all.py                                everything
    python benchmarks/all.py --quick                        two minutes: some races, their ratios beside those kept
    python benchmarks/all.py --only channels,graphs         some programs; the page keeps what it has of the others
    python benchmarks/all.py --only graphs -- --only large  some races of one; options after -- are the program's own
    python benchmarks/all.py --peers DIR --install-peers    packages to compare with, each in its own environment
    python benchmarks/all.py --expired                      commands that renew rows of code that has changed since

Needs `UNMASK_DATA`. What is measured and how a new program joins: see harness.py. What a program finds replaces its
rows in rows.jsonl, from which alone the page is written; a row stays where its case was not tried, as one that is only
run by request or a peer that is not installed, and shows the day and the machine of that run. A case that failed
loses its row, and so does one whose race was run on another machine; one that is no more is taken out by hand. With
--quick nothing is kept and nothing written: it is for a look before a kernel's change is committed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import harness
import scale_page

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
CASES = "benchmark-cases.md"
"""Page of all cases, next to the summary."""

PROGRAMS = {
    "tables": ("tables",),
    "limits": ("cli", "graphs", "render", "tables"),
    "large": ("graphs", "tables"),
    "channels": ("channels", "core", "measures"),
    "graphs": ("graphs",),
    "unlinkability": ("core", "linkage", "measures"),
    "aggregates": ("aggregates",),
    "economics": ("economics",),
    "separation": ("graphs",),
    "scale": ("graphs", "linkage", "tables"),
    "studies": ("studies",),
}
"""Program -> folders of the package that it times. A row whose folders have changed since is marked as old."""

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
* **Seconds** are CPU seconds of all threads of the step alone. Making the input and importing are not counted. `wall`
  marks seconds by the clock.
* Each case runs in a fresh process. A case below five seconds runs three times, and the median is shown.
* A **peer** computes the same from the same input: another package, or the method in plain Python, NumPy, SciPy or SQL.
* The **ratio** is the peer's seconds divided by ours: 5 means that unmask is five times faster, 0.5 that it takes twice
  as long. The machine is up to a half slower on some days, so compare ratios rather than seconds.
* **Peak memory** is that of the whole process, with input and imports.
* **same** means that both results agree up to rounding.
"""
SUMMARY = """\
# Benchmarks

Most tasks take seconds on two cores. unmask is faster than most other implementations of the same method. It is slower
than a bare query, formula or import, which is only a part of the task.
"""
TASKS = {
    "unmask audit of 8 rows": "audit a small table",
    "audit, 1,000,000 distinct rows, with page": "audit a million distinct rows, with a page",
    "protect, 1,000,000 rows of CSV": "protect a million rows",
    "audit, 100,000,000 rows of Parquet x 3": "audit 100 million rows with three columns",
    "protect, 100,000,000 rows of Parquet": "protect 100 million rows",
    "audit linkage, 1,000,000 items of CSV": "audit a linkage of a million items",
    "audit of a network, nothing compiled before": "first audit of a network after installation",
    "audit of a network, all compiled before": "every later audit of a network",
    "audit of a network of 100,000 edges": "audit a network of 100,000 edges by every attack",
    "Nar09, 100,000,000 edges": "attack a network of 100 million edges",
}
"""Work -> task in the words of a user: the rows of the summary."""

BARS_HEAD = ("work", "ours", "target", "nearest peer", "ratio", "result")
SLOWER = 1.25
"""Times what the run before took, from which on a case is told to be slower."""

Row = dict[str, Any]
"""A row of a program, as `harness.rows` makes it, with the name of the program, the machine, the day, the load before
it, a digest of the code, and the seconds that the same case took in the run before on this machine.
"""


def measured(program: str, flags: list[str]) -> Iterator[Row]:
    """The rows of a program as they come, told on stderr, each with its seconds of the last run."""
    command = [sys.executable, str(HERE / f"{program}.py"), "--json", *flags]
    machine_name, day = machine(), f"{date.today():%Y-%m-%d}"
    about = {"program": program, "machine": machine_name, "day": day, "load": round(os.getloadavg()[0], 1)}
    about["code"] = digest_code(program)
    took = {
        of_case(row): row["seconds"]
        for row in read_rows()
        if (row["program"], row["machine"]) == (program, machine_name)
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for text in running.stdout:
            row = json.loads(text) | about
            print(harness.line(row), file=sys.stderr, flush=True)
            yield row | {"before": took.get(of_case(row))}
    if running.returncode:
        print(f"{program}.py ended with exit code {running.returncode}, rows may be missing", file=sys.stderr)


@cache
def digest_code(program: str) -> str:
    """Return a digest of the code that a program times."""
    package = HERE.parent / "src" / "unmask"
    files = (path for folder in PROGRAMS[program] for path in (package / folder).rglob("*.py"))
    content = b"".join(hashlib.sha256(path.read_bytes()).digest() for path in sorted(files))
    return hashlib.sha256(content).hexdigest()[:12]


def is_old(row: Row) -> bool:
    """Return whether the code that a row times has changed since its run."""
    return bool(row.get("code") != digest_code(row["program"]))


def quick() -> str:
    """Return the ratio of each peer now, and the ratio when the page was written."""
    was = {(row["program"], *of_case(row)): row["ratio"] for row in read_rows()}
    lines = [("race", "peer", "ratio", "on the page")]
    for program, groups in QUICK.items():
        for row in measured(program, ["--quick", "--only", *groups]):
            if row["is_peer"] and not row["not_done"]:
                row_before = was.get((program, *of_case(row)))
                lines.append(
                    (row["race"], row["case"], *(harness.number(row, 3) for row in (row["ratio"], row_before)))
                )
    return aligned(lines)


def expired() -> str:
    """Return the commands that renew expired rows, most rows for a minute first. Inputs take further time to make."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in read_rows():
        if is_old(row) and not row["not_done"]:
            parts.setdefault((row["program"], row["group"]), []).append(row)
    minutes = {part: sum(map(run_seconds, rows)) / 60 for part, rows in parts.items()}
    lines = []
    for (program, group), rows in sorted(parts.items(), key=lambda part: minutes[part[0]] / len(part[1])):
        command = f"python benchmarks/all.py --only {program} -- --only {group}"
        lines.append((command, str(len(rows)), f"{minutes[program, group]:.1f}"))
    return aligned([("command", "expired rows", "minutes"), *lines])


def run_seconds(row: Row) -> float:
    """Return the seconds of the runs of a case, which `harness.measured` repeats if it is short."""
    seconds = max(row["seconds"], row["wall"] or 0.0)
    return float(seconds if seconds >= harness.LONG_SECONDS else harness.RUNS_OF_SHORT_CASES * seconds)


def read_rows() -> list[Row]:
    """Read the rows of earlier runs."""
    return [json.loads(text) for text in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.exists() else []


def keep(program: str, result: list[Row]) -> None:
    """Store the rows of a run next to the rows of other programs, programs in their order."""
    old = read_rows()
    rows_before = {of_case(row): row for row in old if row["program"] == program}
    untried = (harness.LEFT_OUT, harness.NOT_INSTALLED)
    new = {of_case(row): rows_before.get(of_case(row), row) if row["not_done"] in untried else row for row in result}
    ran_on = {row["race"]: row["machine"] for row in result if row["not_done"] not in untried}
    of_program = [
        row for row in (rows_before | new).values() if row["machine"] == ran_on.get(row["race"], row["machine"])
    ]
    races = list(dict.fromkeys(row["race"] for row in of_program))
    of_program.sort(key=lambda row: races.index(row["race"]))
    rows = [*(row for row in old if row["program"] != program), *of_program]
    rows.sort(key=lambda row: list(PROGRAMS).index(row["program"]))
    ROWS.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def of_case(row: Row) -> tuple[str, str]:
    """Return what identifies a row within its program."""
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


def summary(rows: list[Row]) -> str:
    """Return the page that a user reads: ten tasks, targets, and what keeps a case from its target."""
    judged_rows = [row for row in rows if row["judged"]]
    late = [row for row in judged_rows if missed(row)]
    by_work = {work(row): row for row in judged_rows}
    tasks = [(words, *of_bar(by_work[name], rows)[1:3]) for name, words in TASKS.items() if name in by_work]
    reasons = {work(row): row["limit"] for row in late if row["limit"]}
    parts = (
        SUMMARY,
        "## Ten tasks\n",
        aligned([("task", "time, peak memory", "target"), *tasks]) + "\n",
        f"## Growth with size\n\n[Large inputs](scale.md) has the rates.\n\n{charts_of_growth()}\n",
        f"## Targets\n\n{len(judged_rows) - len(late)} of {len(judged_rows)} targets are met.\n",
        aligned([("missed target", "reason"), *reasons.items()]) + "\n",
        "## Comparisons\n",
        PICTURE,
        LEGEND,
        f"[All cases]({CASES}) lists every comparison and machine. `python benchmarks/all.py` measures them.\n",
    )
    return "\n".join(parts)


def charts_of_growth() -> str:
    """Return the lines of docs/scale.md that show its charts."""
    begin, end = (mark.format("charts") for mark in (scale_page.BEGIN, scale_page.END))
    return scale_page.PAGE.read_text(encoding="utf-8").split(begin)[1].split(end)[0].strip()


def reached(rows: list[Row]) -> str:
    """Return the targets and what was reached, as a table."""
    judged_rows = [row for row in rows if row["judged"]]
    return "\n".join(["## Targets\n", aligned([BARS_HEAD, *(of_bar(row, rows) for row in judged_rows)]), ""])


def missed(row: Row) -> bool:
    """Return whether a case misses a demand."""
    return any(judgment.startswith("MISSED") for judgment in row["judged"])


def of_bar(row: Row, rows: list[Row]) -> tuple[str, ...]:
    """A case that something is demanded of, as cells. A demand on the ratio is one on the case that has it."""
    clock, race = row["clock"], [one for one in rows if one["race"] == row["race"] and not one["not_done"]]
    ours, peers = (race[0], [row]) if row["is_peer"] else (row, [row for row in race if row["is_peer"]])
    nearest = min(peers, key=lambda row: float(row[clock]), default=None)
    ratio = harness.number(nearest[clock] / ours[clock], 3) if nearest else ""
    took = f"{harness.number(ours[clock], 3)} s{' wall' * (clock == 'wall')}, {ours['peak_mib']:,.0f} MiB"
    demands = ", ".join(judgment.partition(": ")[2].removeprefix("at most ") for judgment in row["judged"])
    return work(ours), took, demands, timed(nearest) if nearest else "", ratio, "MISSED" if missed(row) else "met"


def work(row: Row) -> str:
    """Describe the work of a case."""
    return row["race"] if row["case"] == "ours" else f"{row['race']}, {row['case']}"


def slower(rows: list[Row]) -> str:
    """Return a table of the cases that took longer than in the run before of their program."""
    changes = [
        (work(row), f"{harness.number(row['before'], 3)} s", f"{harness.number(row['seconds'], 3)} s")
        for row in rows
        if row["before"] and row["seconds"] and row["seconds"] > max(SLOWER * row["before"], row["before"] + 0.05)
    ]
    return "## Slower than before\n\n" + aligned([("case", "before", "now"), *changes]) + "\n" if changes else ""


PICTURE = """```{picture} All cases with a peer, by program. To the right of 1, unmask takes less time.
from docs.evidence_charts import draw_ratios

draw_ratios()
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
    return {
        machine_name: "\u2020" * number
        for number, machine_name in enumerate(dict.fromkeys(row["machine"] for row in rows))
    }


def measured_on(rows: list[Row]) -> str:
    """The machines, how busy each was before a run, and what is installed."""
    runs: dict[str, dict[str, None]] = {}
    for row in rows:
        run = f"{row['program']} {row['day']}{'*' * is_old(row)} ({row['load']:g})"
        runs.setdefault(row["machine"], {})[run] = None
    machines = aligned(
        [
            ("machine", "programs"),
            *((f"{mark} {name}".strip(), ", ".join(runs[name])) for name, mark in marks(rows).items()),
        ]
    )
    peers = sorted({" with ".join(row["packages"]) for row in rows if row["packages"] and not row["not_done"]})
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("unmask", *LIBRARIES))
    return f"""\
{machines}

An asterisk marks runs before the last change of the code that they time. Their numbers may have changed.

Each date has the load before the run in parentheses. Above a load of 0.5, other programs shared the machine: CPU
seconds are up to a tenth too long. Above four they are up to twice as long.

Python {platform.python_version()}, {versions}. Packages compared with: {", ".join(peers) or "none"}.
"""


def all_cases(rows: list[Row]) -> str:
    """Return the page of all targets and cases."""
    on = measured_on(rows)
    rows = marked(rows)
    left_out = [(work(row), row["not_done"]) for row in rows if row["not_done"]]
    parts = (
        "---\norphan: true\n---\n# All benchmarks\n",
        "Every target and every comparison. [Benchmarks](benchmarks.md) explains the columns.\n",
        reached(rows),
        "## Machines\n",
        on,
        slower(rows),
        "## Not run\n\n" + aligned([("case", "reason"), *left_out]) + "\n" if left_out else "",
        "## Cases\n",  # last: the pictures read the last table of the page
        table(with_first(rows)) + "\n",
    )
    return "\n".join(filter(None, parts))


def main() -> None:
    """Read the command line, run the programs, write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"some of {','.join(PROGRAMS)}")
    parser.add_argument("--quick", action="store_true", help="some races and their ratios, nothing kept")
    parser.add_argument("--expired", action="store_true", help="list commands that renew expired rows")
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
    if options.quick or options.expired:
        print(quick() if options.quick else expired())
        return
    flags = ["--install-peers"] * options.install_peers
    flags += (["--peers", options.peers] if options.peers else []) + options.more
    for program in programs:
        keep(program, list(measured(program, flags)))
        options.output.write_text(summary(read_rows()), encoding="utf-8")
        options.output.with_name(CASES).write_text(all_cases(read_rows()), encoding="utf-8")
    print(reached(read_rows()))


if __name__ == "__main__":
    main()
