"""Random generators: secret ones for protections, and seeded ones for reproducible draws."""

from __future__ import annotations

import secrets

import numpy as np

from unmask.core.errors import UnmaskError


def secret_unless(rng: object) -> np.random.Generator:
    """Return the given generator, or a secret one. A seed is rejected, so no release is seeded by accident.

    The secret generator is Philox 4x64-10 with a 128-bit key from the operating system. PCG64, the default of NumPy, is
    not used, because its state was recovered from its output (C. Bouillaguet, F. Martinez, J. Sauvage, "Practical
    seed-recovery for the PCG pseudo-random number generator", ToSC 2020).

    >>> bool(secret_unless(None).integers(2**62) == secret_unless(None).integers(2**62))
    False
    """
    if rng is None:
        return np.random.Generator(np.random.Philox(key=draw_key()))
    if not isinstance(rng, np.random.Generator):
        wanted = "a generator of NumPy, or None for an unpredictable draw"
        repeat = "numpy.random.default_rng(seed) repeats a draw, and so can an adversary who guesses the seed"
        raise UnmaskError(f"rng is of type {type(rng).__name__}, expected {wanted}; {repeat}")
    return rng


def draw_key() -> int:
    """Return 128 random bits from the operating system."""
    return secrets.randbits(128)
