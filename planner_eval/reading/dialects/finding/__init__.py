"""Finding the plan in a model's text."""
