"""Texts, files and traces to plans."""
