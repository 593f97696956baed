"""The stages of a triage desk: translate, supervise, specialise or escalate, and file."""
