"""The whole job in the browser, on the user's own machine: every screen writes the document, and runs the commands."""
