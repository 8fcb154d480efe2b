"""Release -> the adversary's partition of the items, or their view. No attack ever sees the truth.

Every linker is called `attack(release, knowledge, rng=...)` as all attacks are. It knows nothing but the items, so that
`knowledge` is None, and what it draws is fixed by its own `seed`, so that `rng` changes nothing.
"""
