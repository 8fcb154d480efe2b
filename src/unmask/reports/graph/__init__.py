"""The graph section: whom structural attacks name in a released network, with what certainty, from how few seeds."""
