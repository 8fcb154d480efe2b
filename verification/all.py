"""Run the verification programs and print a table of their verdicts: `UNMASK_DATA=... python verification/all.py`.

Two programs run at a time, about an hour on two cores. `--quick` runs a selection with small arguments, at most ten
minutes. `--only tables,graphs` runs some. The output of a program goes to a file of its name in `--folder` (by default
a temporary folder, printed at the end). A run of every program writes its table to docs/verification.md; `--page`
writes the rows of the programs that ran. Exits with 1 if a required verdict fails or a program prints no verdict.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from show import align, read_tally

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "verification.md"
PROGRAMS: dict[str, tuple[str, ...]] = {
    "separation": (),
    "graphs": (),
    "network_files": ("--files", "20000"),
    "engines": ("--part", "adult"),
    "fuzz": ("--jobs", "1"),
    "kill": (),
    "app": (),
    "studies": (),
    "secrecy": (),
    "tables": (),
    "noisy_release": (),
    "control_people": (),
    "learned": (),
    "membership": (),
    "wp216": (),
    "office": (),
    "mechanisms": (),
    "suggestions": (),
    "certificates": (),
    "channels": (),
    "evidence": (),
    "climb": (),
    "graph_study": (),
    "lattice": (),
    "published_tables": (),
    "suppression": (),
    "economics_campaign": ("--games", "50000"),
    "graphs_pairs": (),
    "graph_confidence": (),
    "location_study": (),
    "intervals": (),
    "charts": (),
    "golden": (),
    "unlinkability": (),
    "requested": (),
    "economics": (),
}
"""Arguments of each program, the longest program first; arguments keep a program under half an hour."""
QUICK: dict[str, tuple[str, ...]] = {
    "secrecy": (),
    "graphs_pairs": ("--part", "quick"),
    "unlinkability": (),
    "requested": (),
    "fuzz": ("--cases", "200", "--jobs", "1"),
    "kill": ("--kills", "12"),
    "network_files": ("--files", "300"),
    "wp216": (),
    "office": (),
    "channels": (),
    "evidence": (),
    "golden": (),
    "charts": (),
    "graphs": ("--part", "nar09"),
    "tables": (),
    "learned": (),
    "noisy_release": (),
    "economics": (),
    "economics_campaign": ("--games", "1000"),
    "intervals": ("--draws", "200"),
    "location_study": (),
}
"""Programs of a quick run with their arguments: every domain, and hostile input."""

HEAD = ("program", "what it verifies", "hold", "differ", "fail", "minutes")
LEGEND = """\
# Verification

unmask reproduces published results, compares its solvers with independent ones and with enumeration, and attacks its
own files. The table counts the claims of each program:

* **hold**: the claim is as published or as enumerated.
* **differ**: a claim of a paper that could not be confirmed. The program prints the measured reason.
* **fail**: a fault, in unmask or in the claim.

`python verification/all.py` runs all programs. `verification/README.md` lists what each one reads and needs.

```{picture} Claims by program, from the table below: confirmed, different from the paper, failed.
from docs.evidence_charts import draw_claims

draw_claims()
```
"""


@dataclass(frozen=True)
class Outcome:
    """Verdicts of a program: those that hold, differ and fail, or None if it printed none."""

    name: str
    exit_code: int
    tally: tuple[int, int, int] | None
    minutes: float

    @property
    def row(self) -> tuple[str, ...]:
        """Cells of the program in the table."""
        counts = ("-", "-", f"exit code {self.exit_code}") if self.tally is None else tuple(map(str, self.tally))
        return (self.name, read_subject(self.name), *counts, f"{self.minutes:.1f}")

    @property
    def fails(self) -> bool:
        """True if a required verdict fails, or if the program printed none."""
        return bool(self.exit_code or self.tally is None or self.tally[2])


def read_subject(name: str) -> str:
    """Return the first line of a program's docstring, up to the colon."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text())) or ""
    return text.split("\n", 1)[0].split(": `", 1)[0].rstrip(".")


def run_program(name: str, *, arguments: dict[str, tuple[str, ...]], folder: Path) -> Outcome:
    """Run a program with its arguments; its output goes to a file of its name."""
    start = time.perf_counter()
    with (folder / f"{name}.txt").open("w+") as output:
        command = [sys.executable, str(HERE / f"{name}.py"), *arguments[name]]
        environment = os.environ | {"PYTHONPATH": str(HERE.parent)}
        process = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=environment, check=False)
        output.seek(0)
        outcome = Outcome(name, process.returncode, read_tally(output.read()), (time.perf_counter() - start) / 60)
    print(*outcome.row, sep="  ", file=sys.stderr, flush=True)
    return outcome


def merge_rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """Return the rows of the page, with those of these outcomes replaced."""
    lines = (line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| "))
    rows = {line[0]: tuple(line) for line in lines} | {outcome.name: outcome.row for outcome in outcomes}
    return [rows[name] for name in PROGRAMS if name in rows]


def format_page(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the page of docs/verification.md with these rows."""
    lines = [HEAD, tuple("---" if i < 2 else "---:" for i in range(len(HEAD))), *rows]
    return LEGEND + "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> int:
    """Run the programs that the arguments select."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of programs, separated by commas")
    parser.add_argument("--quick", action="store_true", help="a selection with small arguments, at most ten minutes")
    parser.add_argument("--page", action="store_true", help="write the rows of these programs, and leave the others")
    parser.add_argument("--folder", type=Path, help="folder for the outputs")
    options = parser.parse_args()
    if options.quick and options.page:
        parser.error("--quick runs smaller cases than the page reports: leave --page or --quick out")
    arguments = QUICK if options.quick else PROGRAMS
    names = options.only.split(",") if options.only else list(arguments)
    if unknown := [name for name in names if name not in arguments]:
        parser.error(f"unknown program {unknown[0]!r}; choose from {', '.join(arguments)}")
    folder = options.folder or Path(tempfile.mkdtemp(prefix="verification-"))
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(partial(run_program, arguments=arguments, folder=folder), names))
    print(align(HEAD, [outcome.row for outcome in outcomes]), f"\noutputs: {folder}", sep="\n")
    if options.page or (set(names) == set(PROGRAMS) and not options.quick):
        PAGE.write_text(format_page(merge_rows(outcomes)))
    return int(any(outcome.fails for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
