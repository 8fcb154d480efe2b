"""Real pairs of networks: success of attacks, and announced compared with realized success.

`UNMASK_DATA=... python verification/graphs_pairs.py` runs the ensemble: five draws of each pair and of Epinions,
pairs of other kinds, similarities, planted networks, attacks without seeds, and a large pair, in about 45 minutes;
`--quick` one draw of Douban, `--part` some parts.
"""

from __future__ import annotations

import argparse
import sys

from graphs_draws import PAIRS
from graphs_ensemble import ensemble, large, unfamiliar
from graphs_planted import planted, thin
from graphs_seedless import seedless
from graphs_similarity import names, similarity
from show import run

PARTS = ("epinions", "unfamiliar", "similarity", "names", "planted", "thin", "seedless", "large")


def main() -> int:
    """Run all parts, or some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one draw of Douban")
    parser.add_argument("--part", nargs="*", default=[*PAIRS, *PARTS], help="parts alone")
    asked = parser.parse_args()
    others = {
        "unfamiliar": unfamiliar, "similarity": similarity, "names": names, "planted": planted, "thin": thin,
        "seedless": seedless, "large": large,
    }  # fmt: skip
    real = [name for name in asked.part if name not in others]
    parts = [lambda: ensemble(real)] if real else []
    parts += [others[name] for name in asked.part if name in others]
    return run([lambda: ensemble(("douban",), 1)] if asked.quick else parts)


if __name__ == "__main__":
    sys.exit(main())
