"""The console: people decide reviews, follow runs and read figures in a browser."""
