"""Attacks on published tables: certain inferences, reconstruction of records, and beliefs about sensitive values."""
