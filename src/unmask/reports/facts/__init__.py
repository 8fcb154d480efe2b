"""What a page shows, as values: one file a subject. Fields are what cases file; nothing here computes about people."""
