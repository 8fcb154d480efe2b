"""Linkers of pseudonyms: release -> the adversary's partition of the items, or their view, without the truth.

Every linker is called `attack(release, knowledge, rng=...)`, as all attacks are. It uses only the items, so `knowledge`
stays empty. Its own `seed` fixes its draws, so `rng` changes nothing.
"""
