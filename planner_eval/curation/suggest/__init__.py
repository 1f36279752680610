"""Fixes of a plan that breaks its catalog, found without gold: ranked, each tried before it is told."""
