"""Typed values found in what customers write: order numbers, dates, money, names."""

from deskhand.language.slots.extractor import PRECEDENCE, SlotExtractor
from deskhand.language.slots.slot_value import SlotMatch, SlotValue

__all__ = ["PRECEDENCE", "SlotExtractor", "SlotMatch", "SlotValue"]
