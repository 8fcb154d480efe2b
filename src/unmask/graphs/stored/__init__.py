"""Networks that need not fit the memory: an engine holds links, seeds and truth, and attacks are joins of them."""

from unmask.graphs.stored.attacks import Mapped, attack, check_adversary
from unmask.graphs.stored.checkpoints import Checkpoint
from unmask.graphs.stored.components import largest_component
from unmask.graphs.stored.evaluation import Found, evaluate, read_seeds, read_truth, write_pairs
from unmask.graphs.stored.loading import Network, load
from unmask.graphs.stored.planning import Plan, plan

__all__ = [
    "Checkpoint",
    "Found",
    "Mapped",
    "Network",
    "Plan",
    "attack",
    "check_adversary",
    "evaluate",
    "largest_component",
    "load",
    "plan",
    "read_seeds",
    "read_truth",
    "write_pairs",
]
