"""A company's own rules over tool calls: pure, compiled from YAML, and only ever stricter than
the gate."""
