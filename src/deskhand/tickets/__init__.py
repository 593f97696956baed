"""Tickets: which matter a message belongs to, and what may become of a matter. Pure rules, and the
service that applies them to the stores."""
