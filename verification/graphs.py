"""Published results about attacks on networks, run again: `python verification/graphs.py` (about ten minutes).

G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015: Table 3.1, Figures
3.2 to 3.4, 4.3, 4.6, 4.7 and 4.8, each claim beside what was found, and a verdict; exit code 1 if a verdict that must
hold fails. Slashdot and Epinions are the networks of the source; LJ66k and LJ10k were never published, and others stand
in, named where they do. Needs UNMASK_DATA. `--part` runs one part alone (table, nar09, anonymity, seeding).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import graphs_anonymity
import graphs_nar09
import graphs_seeding
from graphs_table import Cells, bistable, table
from show import Section, failures, show

PARTS = ("table", "nar09", "anonymity", "seeding")


def main() -> int:
    """Run the parts in order; those that need the runs of the table run it first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, help="run one part alone")
    wanted = parser.parse_args().part
    cells: Cells = {}
    sections: list[Section] = []
    for part, run in _parts(cells):
        if wanted not in (None, part) and not (part == "table" and wanted in ("nar09", "anonymity")):
            continue
        wall, cpu = time.perf_counter(), time.process_time()
        sections.append(run())
        show(sections[-1])
        print(f"   ({time.perf_counter() - wall:.0f} s, CPU {time.process_time() - cpu:.0f} s)", flush=True)
    wrong = failures(sections)
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    held = sum(verdict.holds for verdict in verdicts)
    print(f"\n{held} verdicts hold, {len(verdicts) - held - len(wrong)} differ as explained, {len(wrong)} fail")
    for verdict in wrong:
        print(f"  FAILS: {verdict.claim}")
    return 1 if wrong else 0


def _parts(cells: Cells) -> tuple[tuple[str, Callable[[], Section]], ...]:
    return (
        ("table", lambda: table(cells)),
        ("nar09", lambda: bistable(cells)),
        ("nar09", graphs_nar09.theta),
        ("nar09", graphs_nar09.transition),
        ("nar09", lambda: graphs_nar09.scores(cells)),
        ("nar09", lambda: graphs_nar09.degrees(cells)),
        ("anonymity", lambda: graphs_anonymity.nar09(cells)),
        ("anonymity", graphs_anonymity.grasshopper),
        ("seeding", graphs_seeding.small),
        ("seeding", graphs_seeding.large),
    )


if __name__ == "__main__":
    sys.exit(main())
