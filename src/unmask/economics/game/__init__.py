"""The publisher's game: a release with its terms, and the attackers' best campaigns."""
