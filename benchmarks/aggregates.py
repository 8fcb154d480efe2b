"""Time of reconstructing records from published tables of ACS blocks.

    python benchmarks/aggregates.py

Needs `UNMASK_DATA`. A case draws blocks of 30 people from the areas of the ACS excerpt and counts them before it is
timed: sex x 23 ages x race, sex x 23 ages x Hispanic, race x Hispanic. It is timed from the tables to the result, with
the original. 500 blocks are attacked, and the seconds are multiplied. How cases are run and shown: see harness.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import harness
from harness import Case, Found, Race, Step

BLOCKS = 500


def reconstruct_blocks(size: int) -> Step:
    """Audit exact tables of 500 blocks, with the original."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "verification"))
    from published_tables import draw_blocks, publish

    import unmask
    from unmask.aggregates import Rule

    unmask.audit(publish(small := draw_blocks(2, size), Rule()), small)  # compiles
    records = draw_blocks(BLOCKS, size)
    release = publish(records, Rule())

    def step() -> Found:
        rows = {row["measure"]: row["posterior"] for row in unmask.audit(release, records).results}
        return {"one solution": rows["areas_reconstructed"], "records": rows["records_reconstructed"]}

    return step


def races(_options: argparse.Namespace) -> Iterator[Race]:
    """Blocks of 30 people."""
    case = Case("ours", reconstruct_blocks, (30,), times=10_000 / BLOCKS, at_most=300.0)
    yield Race("blocks", "reconstruction, 10,000 blocks of 30", (case,), shows="from three exact tables to the result")


if __name__ == "__main__":
    harness.main(__doc__, races, only=("blocks",))
