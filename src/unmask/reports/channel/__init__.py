"""The channel section: what the best adversary can still estimate behind a mechanism."""
