"""Tables that need not fit the memory: an engine counts their combinations, the rest is as for any table."""

from unmask.engines.room import check_output, shares
from unmask.tables.large.mondrian import Generalized, generalize
from unmask.tables.large.planning import Plan, check_together, plan
from unmask.tables.large.reduce import Reduced, reduce
from unmask.tables.large.roles import Roles
from unmask.tables.large.write import write_release

__all__ = [
    "Generalized",
    "Plan",
    "Reduced",
    "Roles",
    "check_output",
    "check_together",
    "generalize",
    "plan",
    "reduce",
    "shares",
    "write_release",
]
