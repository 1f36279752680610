"""Isolation: confined workers, what goes to them and comes back, and how they are ended."""
