"""Real pairs of networks: success of attacks, and announced compared with realized success.

`UNMASK_DATA=... python verification/graphs_pairs.py` runs the ensemble: five draws of each pair and of Epinions,
pairs of other kinds, similarities, planted networks, attacks without seeds, and a large pair, in about 45 minutes.
`--part quick` runs one draw of Douban.
"""

from __future__ import annotations

import sys
from functools import partial

from graphs_draws import PAIRS
from graphs_ensemble import verify_draws, verify_large, verify_seedless, verify_unfamiliar
from graphs_planted import verify_planted, verify_thin
from graphs_similarity import verify_names, verify_similarity
from show import main

PARTS = {
    **{name: partial(verify_draws, name) for name in (*PAIRS, "epinions")},
    "unfamiliar": verify_unfamiliar,
    "similarity": verify_similarity,
    "names": verify_names,
    "planted": verify_planted,
    "thin": verify_thin,
    "seedless": verify_seedless,
    "large": verify_large,
}

if __name__ == "__main__":
    is_quick = sys.argv[1:] == ["--part", "quick"]
    sys.exit(main(__doc__, {"quick": partial(verify_draws, "douban", draws=1)} if is_quick else PARTS))
