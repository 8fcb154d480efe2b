"""The linkage section: which items an adversary who clusters them links, subject by subject."""
