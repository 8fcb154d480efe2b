"""Published results about tables, reproduced: `python verification/tables.py` (needs `UNMASK_DATA`, takes a minute).

`--peers DIR` also runs the peers installed there, each in its environment (DIR/pycanon, DIR/anonypy).
"""

from __future__ import annotations

import sys
from pathlib import Path

from show import main
from table_faults import verify_faults
from table_linkage import verify_criteria, verify_linkage
from table_strings import verify_strings

PARTS = {
    "strings": verify_strings,
    "linkage": verify_linkage,
    "criteria": verify_criteria,
    "faults": verify_faults,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS, peers=Path))
