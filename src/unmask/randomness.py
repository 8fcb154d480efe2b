"""Where chance comes from: the operating system for what protects people, a seed for what must be repeated."""

from __future__ import annotations

import numpy as np


def secret_unless(rng: np.random.Generator | None) -> np.random.Generator:
    """The given generator, or one that nobody can guess.

    The secret generator is Philox 4x64-10 under a key of 128 bits from the operating system. NumPy's default, PCG64,
    would not do: its state was recovered from its output (C. Bouillaguet, F. Martinez, J. Sauvage, "Practical
    seed-recovery for the PCG pseudo-random number generator", ToSC 2020).

    >>> bool(secret_unless(None).integers(2**62) == secret_unless(None).integers(2**62))
    False
    """
    return np.random.Generator(np.random.Philox()) if rng is None else rng
