"""Certificates checked in a fresh environment and another folder, after one change at a time.

`python verification/certificates.py [--venv DIR]` installs unmask from this checkout into an environment of its own
(DIR, if it is there, is taken as it is) and makes certificates of a table, a network and a linkage with this one.

1. Each checks in a copy of its folder, in the fresh environment: every value is the same, exit code 0.
2. Each fails after one change, exit code 1, and a line names what differs: one byte of what was released, a limit of
   the policy, the version that is installed, one number of the certificate.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from show import Section, Verdict, run

from unmask.tables import datasets

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs.picture_sources import COLUMNS  # noqa: E402  # of this checkout, wherever this is called

TABLE = f"""
[data]
file = "people.csv"
{COLUMNS}
[control]
file = "others.csv"
[[releases]]
file = "release.csv"
origin = "origin.csv"
[[policy]]
require = "identity:success_probability.worst <= 0.3"
[[policy]]
require = "diagnosis:realized_success.excess <= 0.2"
[certificate]
purpose = "research"
"""

GRAPH = """
[graph]
release = "release.csv"
auxiliary = "known.csv"
truth = "truth.csv"
seeds = "random:12"
attacks = ["Nar09", "Rematch"]
runs = 2
[[policy]]
require = "recall <= 0.3"
"""

LINKAGE = """
[linkage]
truth = "truth.csv"
guesses = "release.csv"
[[policy]]
require = "breached <= 0.3"
"""


def run_python(python: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a Python with these arguments in a folder; only this Python gets PYTHONPATH."""
    inside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" or python == sys.executable}
    return subprocess.run([python, *words], cwd=folder, env=inside, capture_output=True, text=True, check=False)


def unmask(*words: str, python: str = sys.executable, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, by the unmask of a Python."""
    return run_python(python, "-m", "unmask", *words, folder=folder)


def write_csv(path: Path, head: str, rows: Iterator[tuple[object, ...]]) -> None:
    """Write a CSV file."""
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")


def make_table(folder: Path) -> None:
    """Write 600 people in classes of 5, and as many outside."""
    people = datasets.synthetic_census(1200, rng=np.random.default_rng(1))
    rows = list(zip(*people.values(), strict=True))
    write_csv(folder / "people.csv", ",".join(people), iter(rows[:600]))
    write_csv(folder / "others.csv", ",".join(people), iter(rows[600:]))
    roles = ("-q", "age,sex,zip", "-s", "diagnosis", "--k", "5")
    unmask("protect", "people.csv", *roles, "-o", "release.csv", "--origin", "origin.csv", folder=folder)
    (folder / "unmask.toml").write_text(TABLE)


def make_graph(folder: Path) -> None:
    """Write 300 people, the release under new ids, each side with nine tenths of the links."""
    rng = np.random.default_rng(2)
    ends = np.unique(np.sort(rng.integers(0, 300, (1500, 2)), axis=1), axis=0)
    ends, ids = ends[ends[:, 0] != ends[:, 1]], rng.permutation(300)
    auxiliary, released = (ends[rng.random(len(ends)) < 0.9] for _ in range(2))
    write_csv(folder / "known.csv", "source,target", map(tuple, auxiliary))
    write_csv(folder / "release.csv", "source,target", map(tuple, ids[released]))
    write_csv(folder / "truth.csv", "known,released", enumerate(ids))
    (folder / "unmask.toml").write_text(GRAPH)


def make_linkage(folder: Path) -> None:
    """Write 60 subjects with 5 items each, clustered with mistakes."""
    rng = np.random.default_rng(3)
    subject = np.repeat(np.arange(60), 5)
    is_wrong = rng.random(300) < 0.2
    write_csv(folder / "truth.csv", "item,subject", enumerate(subject))
    write_csv(folder / "release.csv", "item,cluster", enumerate(np.where(is_wrong, rng.integers(0, 60, 300), subject)))
    (folder / "unmask.toml").write_text(LINKAGE)


CASES = {"table": make_table, "network": make_graph, "linkage": make_linkage}


def change_byte(folder: Path, _: Path) -> None:
    """Change the last digit of a cell of the release."""
    text = (folder / "release.csv").read_text()
    position = max(match.start() for match in re.finditer(r"[0-9]", text))
    (folder / "release.csv").write_text(text[:position] + str((int(text[position]) + 1) % 10) + text[position + 1 :])


def change_limit(folder: Path, _: Path) -> None:
    """Change a limit of the policy a little."""
    document = (folder / "unmask.toml").read_text()
    (folder / "unmask.toml").write_text(document.replace("<= 0.3", "<= 0.31", 1))


def change_number(folder: Path, _: Path) -> None:
    """Change a number of the certificate by a millionth."""
    certificate = json.loads((folder / "certificate.json").read_text())
    row = next(
        result
        for result in certificate["results"]
        if isinstance(result["posterior"], float) and 0.01 < result["posterior"] < 1
    )
    row["posterior"] += 1e-6
    (folder / "certificate.json").write_text(json.dumps(certificate))


def change_version(_: Path, installed: Path) -> None:
    """Change the installed version of unmask."""
    installed.write_text(installed.read_text().replace('__version__ = "', '__version__ = "9.'))


CHANGES: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "one byte of the release": (change_byte, r"^inputs, release\.csv, sha256: not the same$"),
    "a limit of the policy": (change_limit, r"<=0\.3.*, limit: 0\.3 in the certificate, 0\.31 now$"),
    "the installed version": (change_version, r"^unmask: \S+ in the certificate, 9\.\S+ now$"),
    "one number": (change_number, r"^results, .*, posterior: \S+ in the certificate, \S+ now$"),
}
"""Change -> its function, and the expected line."""


def make_environment(place: Path) -> str:
    """Return the Python of an environment with this version of unmask."""
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT), "-c", "constraints.txt"]
        subprocess.run([str(python), *install], cwd=ROOT, check=True)
    return str(python)


def check_certificate(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Check the certificate of a folder there."""
    return unmask("certify", "unmask.toml", "--check", "certificate.json", python=python, folder=folder)


def verify_certificate(name: str, place: Path, python: str) -> Section:
    """Make a certificate here, and check it elsewhere: as it is, and after each change."""
    folder = place / name
    folder.mkdir()
    CASES[name](folder)
    unmask("certify", "unmask.toml", "-o", "certificate.json", folder=folder)
    unchanged, *changes = _try_changes(folder, place / "elsewhere" / name, python)
    rows = tuple((change, str(process.returncode), line) for change, process, line in (unchanged, *changes))
    verdicts = [Verdict(f"{name}: unchanged, every value is the same", "0", unchanged[2], unchanged[1].returncode == 0)]
    for change, process, line in changes:
        holds = process.returncode == 1 and bool(line)
        verdicts.append(Verdict(f"{name}: {change} fails with its line", "1", str(process.returncode), holds))
    return Section(f"A {name}", ("change", "exit", "said"), rows, (), tuple(verdicts))


def _try_changes(
    folder: Path, elsewhere: Path, python: str
) -> Iterator[tuple[str, subprocess.CompletedProcess[str], str]]:
    """Try each change; yield its name, the finished check, and the expected line of its output or ""."""
    process = run_python(python, "-c", "import unmask.version as it; print(it.__file__)", folder=folder)
    installed = Path(process.stdout.strip())
    assert Path(python).parent.parent in installed.parents, f"{installed} is not of the fresh environment"
    version = installed.read_text()
    for name, (change, pattern) in {"none": (lambda *_: None, r"is confirmed"), **CHANGES}.items():
        shutil.rmtree(elsewhere, ignore_errors=True)
        shutil.copytree(folder, elsewhere)
        change(elsewhere, installed)
        try:
            process = check_certificate(elsewhere, python)
        finally:
            installed.write_text(version)
        yield name, process, next((line for line in process.stdout.splitlines() if re.search(pattern, line)), "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=Path, help="Environment to check in; made if it is not there.")
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        (place / "elsewhere").mkdir()
        python = make_environment(parser.parse_args().venv or place / "venv")
        sys.exit(run([partial(verify_certificate, name, place, python) for name in CASES]))
