"""When somebody would like to meet, and which of the offered times he takes: read from his own
words."""

from deskhand.language.meeting_times.meeting_wish import read_wish
from deskhand.language.meeting_times.offer_choice import choose_offer

__all__ = ["choose_offer", "read_wish"]
