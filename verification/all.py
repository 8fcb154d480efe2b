"""Every verification program, and one table of how it ended: `UNMASK_DATA=... python verification/all.py`.

Two programs run at a time, about an hour on two cores. What a program prints goes to a file of its name in `--folder`
(a temporary one by default, named at the end); the table is printed and, when every program ran, written to
docs/verification.md. `--only tables,graphs` runs some, and `--page` writes their rows alone. Exits with 1 when a
verdict that must hold fails, or a program ends without any.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from show import aligned, tallied

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "verification.md"
PROGRAMS: dict[str, tuple[str, ...]] = {
    "separation": (),
    "graphs": (),
    "engines": ("--part", "adult"),
    "fuzz": ("--jobs", "1"),
    "kill": (),
    "app": (),
    "studies": (),
    "secrecy": (),
    "tables": (),
    "noisy_release": (),
    "added": (),
    "learned": (),
    "membership": (),
    "wp216": (),
    "synthetic": (),
    "mechanisms": (),
    "without": (),
    "suggestions": (),
    "certificates": (),
    "channels": (),
    "climb": (),
    "graph_study": (),
    "lattice": (),
    "economics_campaign": ("--games", "50000"),
    "graphs_pairs": (),
    "graph_confidence": (),
    "location_study": (),
    "intervals": (),
    "charts": (),
    "unlinkability": (),
    "economics": (),
}
"""The programs, the longest first, and the arguments that keep one under half an hour."""

HEAD = ("program", "what it verifies", "hold", "differ", "fail", "minutes")
LEGEND = """\
# Verification

`python verification/all.py` runs slow programs that compare unmask with published results, with independent solvers and
with enumeration, and that attack its own files. *hold*: claims that are as published or as enumerated. *differ*: claims
of a paper that we could not confirm; the program prints the measured reason. *fail*: faults, here or in the claim.
`verification/README.md` says what each program reads and what it needs.

```{picture} Claims by program: what holds, what differs from the paper, and what fails, from the table below.
from docs.tallies import claims

claims()
```
"""


@dataclass(frozen=True)
class Ended:
    """How a program ended; tally : verdicts that hold, differ, fail, or None where it printed none."""

    name: str
    code: int
    tally: tuple[int, int, int] | None
    minutes: float

    @property
    def row(self) -> tuple[str, ...]:
        """The program as a row of the table."""
        counts = ("-", "-", f"exit code {self.code}") if self.tally is None else tuple(map(str, self.tally))
        return (self.name, subject(self.name), *counts, f"{self.minutes:.1f}")


def subject(name: str) -> str:
    """What a program verifies: the first line of its docstring up to the colon."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text())) or ""
    return text.split("\n", 1)[0].split(": `", 1)[0].rstrip(".")


def ended(name: str, folder: Path) -> Ended:
    """Run a program; what it prints goes to a file."""
    start = time.perf_counter()
    with (folder / f"{name}.txt").open("w+") as output:
        command = [sys.executable, str(HERE / f"{name}.py"), *PROGRAMS[name]]
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
        output.seek(0)
        found = Ended(name, code, tallied(output.read()), (time.perf_counter() - start) / 60)
    print(*found.row, sep="  ", file=sys.stderr, flush=True)
    return found


def with_rows(found: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows of the page with these in their places."""
    lines = (line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| "))
    rows = {line[0]: tuple(line) for line in lines} | {row[0]: row for row in found}
    return [rows[name] for name in PROGRAMS if name in rows]


def page(rows: Sequence[tuple[str, ...]]) -> str:
    """The table as Markdown."""
    lines = [HEAD, tuple("---" if i < 2 else "---:" for i in range(len(HEAD))), *rows]
    return LEGEND + "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> int:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PROGRAMS), help="names, separated by commas")
    parser.add_argument("--page", action="store_true", help="write the rows of these programs, and leave the others")
    parser.add_argument("--folder", type=Path, help="where outputs go")
    given = parser.parse_args()
    names = given.only.split(",")
    if unknown := [name for name in names if name not in PROGRAMS]:
        parser.error(f"{unknown[0]!r} is no program; the programs are {', '.join(PROGRAMS)}")
    folder = given.folder or Path(tempfile.mkdtemp(prefix="verification-"))
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(partial(ended, folder=folder), names))
    print(aligned(HEAD, [one.row for one in found]), f"\noutputs: {folder}", sep="\n")
    if given.page or len(found) == len(PROGRAMS):
        PAGE.write_text(page(with_rows([one.row for one in found])))
    return int(any(one.code or one.tally is None or one.tally[2] for one in found))


if __name__ == "__main__":
    sys.exit(main())
