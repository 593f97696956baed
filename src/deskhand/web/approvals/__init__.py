"""The approvals page: a queue that people clear in a browser. Small, until the console takes its
place."""
