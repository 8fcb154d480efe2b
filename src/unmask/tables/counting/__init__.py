"""Tables that need not fit the memory: an engine counts their combinations, the rest is as for any table."""

from unmask.tables.counting.mondrian import Generalized, generalize
from unmask.tables.counting.planning import Plan, check_together, counted, plan
from unmask.tables.counting.reduce import Reduced, reduce
from unmask.tables.counting.roles import Roles
from unmask.tables.counting.write import write_release

__all__ = [
    "Generalized",
    "Plan",
    "Reduced",
    "Roles",
    "check_together",
    "counted",
    "generalize",
    "plan",
    "reduce",
    "write_release",
]
