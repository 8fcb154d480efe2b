"""Risk of single columns: people that they single out, columns that they determine, members that they reveal."""

from unmask.tables.column_risk.dependence import dependencies, restored_cells
from unmask.tables.column_risk.roles import column_facts, known_as_values, printed_values

__all__ = ["column_facts", "dependencies", "known_as_values", "printed_values", "restored_cells"]
