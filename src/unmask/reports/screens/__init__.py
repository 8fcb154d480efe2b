"""The first screens of pages: acceptable or not, who is at risk, what to do next; one file a subject."""
