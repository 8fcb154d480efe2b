"""The section about columns and rows: what each gives away, what restores what, who is seen to be inside."""
