"""What Deskhand costs, measured beside other engines on the same machine: `python -m bench`."""
