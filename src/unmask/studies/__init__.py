"""Many cells of a plan, run, filed and gathered into what a report shows."""
