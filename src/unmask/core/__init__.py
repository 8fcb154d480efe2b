"""Beliefs, partitions and truths: the types that every domain, attack and measure shares."""
