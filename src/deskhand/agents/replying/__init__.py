"""How a reply leaves: what holds it back, who must look at it first, and its delivery."""
