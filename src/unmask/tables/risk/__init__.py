"""Facts about columns and populations, without an adversary."""

from unmask.tables.risk.column_facts import column_facts, mark_labels_as_values, printed_values
from unmask.tables.risk.dependence import dependencies, restored_cells

__all__ = ["column_facts", "dependencies", "mark_labels_as_values", "printed_values", "restored_cells"]
