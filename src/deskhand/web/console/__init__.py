"""The approvals page: people decide reviews in a browser."""
