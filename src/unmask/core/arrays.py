"""Names for the types of arrays that beliefs and measures consist of."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

Integers: TypeAlias = NDArray[np.int64]

Booleans: TypeAlias = NDArray[np.bool_]
