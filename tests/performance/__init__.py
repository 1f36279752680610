"""Measurements, run by ``make bench``: side by side, as ratios, never in timed tests.

Each module has ``rows()``, which yields (what, measured, target) as text; a target of "" means that
the figure is only reported. ``python -m tests.performance NAME ...`` runs some of them.
"""
