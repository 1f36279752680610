"""The version, a constant so that asking for it imports nothing else."""

__version__ = "0.1.0"
