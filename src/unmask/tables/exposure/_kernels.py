"""Compiled counting of what one column leaves wrong of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled


@compiled
def wrong(order: NDArray[np.int32], ends: NDArray[np.int64], codes: NDArray[np.int32], n: int, most: int) -> int:
    """Rows that do not have the commonest code of their class; counted until they are more than `most`.

    order : rows, class by class; ends : where each class ends there; codes : (n_rows,) below n
    """
    seen = np.zeros(n, dtype=np.int32)
    found = 0
    begin = 0
    for end in ends:
        top = 0
        for at in range(begin, end):
            code = codes[order[at]]
            seen[code] += 1
            top = max(top, seen[code])
        found += end - begin - top
        if found > most:
            break
        for at in range(begin, end):
            seen[codes[order[at]]] = 0
        begin = end
    return found
