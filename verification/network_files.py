"""Network files in random formats: none is misread, and each question leads to the right edges.

`PYTHONPATH=. python verification/network_files.py [--first N] [--files N]`; 20,000 files take about 40 CPU minutes.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections import Counter
from pathlib import Path

from show import Section, Verdict, main

from tests.graphs.random_files import draw_file, outcome

SIZES = (12, 30, 80, 300, 1000)
MOST_ASKED = 0.05


def verify_files(first: int, files: int) -> Section:
    """Read random files, and count how they were read."""
    outcomes, misread = Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + files):
            drawn = draw_file(seed, Path(folder), SIZES)
            result = outcome(drawn).partition(":")[0]
            outcomes[result] += 1
            misread += [str(seed)] if result not in ("right", "asked") else []
            drawn.path.unlink()
    n_wrong, n_vain = outcomes["wrong"], files - outcomes["right"] - outcomes["asked"] - outcomes["wrong"]
    share_asked = 1 - outcomes["right"] / files
    verdicts = (
        Verdict("no file is misread", "0", f"{n_wrong:,} of {files:,}", n_wrong == 0),
        Verdict(
            "few files are a question", f"at most {MOST_ASKED:.0%}", f"{share_asked:.1%}", share_asked <= MOST_ASKED
        ),
        Verdict("the options of a question lead to the edges", "all", f"all but {n_vain:,}", n_vain <= files / 1000),
    )
    rows = tuple((name, f"{count:,}") for name, count in outcomes.most_common())
    notes = (f"seeds of other outcomes: {', '.join(misread[:20])}",) if misread else ()
    return Section("Networks in random dialects", ("outcome", "files"), rows, notes, verdicts)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    sys.exit(main(__doc__, {"files": verify_files}, first=100_000, files=20_000))
