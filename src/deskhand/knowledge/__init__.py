"""The knowledge base: articles from files, cut into chunks, found by words and by meaning."""
