"""Several attacks on several releases, gathered into what a report shows."""

from unmask.studies.tables import Evidence, study_tables

__all__ = ["Evidence", "study_tables"]
