"""How much a desk is trusted: what its replies were worth to people, and which mode that
justifies."""
