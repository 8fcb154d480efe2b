"""Deterrence: the fine, price, group size or mix that stops an attack."""
