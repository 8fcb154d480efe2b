"""Published results about attacks on networks, reproduced: `python verification/graphs.py` (about ten minutes).

G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015: Table 3.1, Figures
3.2 to 3.4, 4.3, 4.6, 4.7 and 4.8, each claim beside what was found, and a verdict; exit code 1 if a verdict that must
hold fails. Slashdot and Epinions are the networks of the source; LJ66k and LJ10k were never published, and others stand
in, named where they do. Last, on three real pairs of networks: whether what beliefs announce comes true. Needs
UNMASK_DATA. `--part` runs one part alone (table, nar09, anonymity, seeding, pairs).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import graphs_announced
import graphs_anonymity
import graphs_nar09
import graphs_seeding
from graphs_table import Cells, bistable, table
from show import Section, run

PARTS = {
    "table": ("table",),
    "nar09": ("table", "nar09"),
    "anonymity": ("table", "anonymity"),
    "seeding": ("seeding",),
    "pairs": ("pairs",),
}
"""What runs for each part: some read the runs of the table."""


def main() -> int:
    """Run the parts in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=list(PARTS), help="run one part alone")
    wanted = parser.parse_args().part
    needed = PARTS.get(wanted, PARTS)
    return run(section for part, section in _parts({}) if part in needed)


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
        ("pairs", graphs_announced.announced),
    )


if __name__ == "__main__":
    sys.exit(main())
