"""Linkage attacks: functions from a release to the adversary's partition of the items, or view, without the truth.

All attacks have the signature `attack(release, knowledge, rng=...)`. Linkage attacks use only the items, so `knowledge`
is unused. Their random draws use their own `seed`, so `rng` has no effect.
"""
