"""Address books as files: CSV and vCard, read and written. Nothing here talks to anybody."""
