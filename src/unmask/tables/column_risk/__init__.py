"""What a table gives away by its columns: who is singled out, what restores what, who is seen to be inside."""

from unmask.tables.column_risk.dependence import dependencies, restored_cells
from unmask.tables.column_risk.roles import column_facts, known_as_values, printed_values

__all__ = ["column_facts", "dependencies", "known_as_values", "printed_values", "restored_cells"]
