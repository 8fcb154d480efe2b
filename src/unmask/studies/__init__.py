"""Studies: run all cells of a plan, store the results, and report them."""
