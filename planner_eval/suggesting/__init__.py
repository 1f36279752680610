"""Mends of a plan that breaks its catalog, found without gold: what fits, ranked, each tried before it is told."""
