"""Plans against one target: tries, prices by group size, and the groups behind a belief."""
