"""Campaigns against many targets: the best plan that is found, and bounds on all plans."""
