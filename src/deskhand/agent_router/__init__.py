"""Conversations in a few lines of code, without a database: on the loop and the stages of desks."""
