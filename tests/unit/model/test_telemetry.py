"""Telemetry events as sinks are given them."""

from deskhand.model.telemetry import TelemetryEvent, TelemetryStage


def test_an_event_with_nothing_to_say_is_told_too() -> None:
    event = TelemetryEvent("2026-11-18T09:00:00.000+00:00", "m1", "c1", TelemetryStage.RECEIVED)
    assert event.document()["payload"] == {}
    assert event.document()["level"] == "info"
