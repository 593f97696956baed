"""Reading without an LLM: which language a text is in, what it means, what it asks for. Needs no
key and no network."""
