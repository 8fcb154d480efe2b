"""The page of a study: every protection against every adversary, gathered over seeds."""
