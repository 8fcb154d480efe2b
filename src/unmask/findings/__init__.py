"""Findings in words: sentences about rows and verdicts, properties of releases, and the owner's list of people."""
