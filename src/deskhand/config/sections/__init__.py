"""The sections of desk.yaml: what may be written, and the typed specs it becomes."""
