"""The findings of a page as sentences: one file a subject."""
