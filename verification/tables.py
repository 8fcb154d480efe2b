"""Published results about tables, reproduced: `python verification/tables.py` (needs `UNMASK_DATA`, takes minutes).

Prints every claim beside what was published, what was found, and a verdict; exit code 1 if a verdict that must hold
fails. `--peers DIR` also runs the peers installed there, each in its own environment (DIR/pycanon, DIR/anonypy).
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from show import run
from table_faults import faults
from table_linkage import proper
from table_strings import compatibility
from table_yardstick import yardstick


def main() -> int:
    """Run the parts asked for, in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="folder with an environment for each peer")
    parser.add_argument("--part", type=int, choices=(1, 2, 3, 4), action="append", help="only this part; repeatable")
    given = parser.parse_args()
    parts = (compatibility, proper, yardstick, partial(faults, given.peers))
    return run(parts[number - 1] for number in sorted(set(given.part or (1, 2, 3, 4))))


if __name__ == "__main__":
    sys.exit(main())
