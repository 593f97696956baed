"""The HTTP API: `create_app` in app.py; one file per thing it serves."""
