"""The published benchmarks: their data, and their scores as coded and as their papers define them."""
