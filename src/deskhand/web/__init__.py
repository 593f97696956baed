"""What speaks HTTP: the API, and later the console."""
