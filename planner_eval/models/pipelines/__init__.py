"""How a model is asked for a plan: one module a way, and what they share."""
