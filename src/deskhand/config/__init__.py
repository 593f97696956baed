"""A desk folder to typed specs: every configuration error is raised here, with file, line and
what to write."""
