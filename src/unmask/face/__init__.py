"""The verbs for Python programs and notebooks: each runs what its command runs, and returns what that shows."""
