"""Web app on the user's machine: screens write the document, and run the commands of the command line."""
