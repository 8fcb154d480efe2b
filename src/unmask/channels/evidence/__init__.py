"""Files of evidence about a system: counts and samples of runs, traces of places, rounds and messages of a mix."""
