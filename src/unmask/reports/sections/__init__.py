"""The sections of a page: facts in, words, charts and tables out; one file a subject."""
