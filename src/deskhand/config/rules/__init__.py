"""The rules a desk is checked by before anything runs: what is wrong, where, and what to write."""
