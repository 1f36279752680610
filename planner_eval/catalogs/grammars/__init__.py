"""Grammars that hold what a model writes to the plans of a catalog, for servers that decode by them."""
