"""Advice before people separate identities: effect on seeding, and the identity that should hold a secret."""
