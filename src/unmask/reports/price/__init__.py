"""The price section: what the attack is worth, to whom, and what would stop it."""
