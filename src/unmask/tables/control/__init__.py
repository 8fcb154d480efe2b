"""Control people, who are not in the release: what attacks on them say about attacks on its people."""
