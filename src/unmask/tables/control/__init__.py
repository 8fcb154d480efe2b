"""Control groups: people outside the release, whose attack results separate memorization from general knowledge."""
