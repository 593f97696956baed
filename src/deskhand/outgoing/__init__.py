"""What a reply may contain and promise: looked at before it leaves, whatever wrote it."""
