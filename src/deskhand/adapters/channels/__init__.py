"""Where messages come from and replies leave."""
