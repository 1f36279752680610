"""The five published benchmarks: their scores as coded, and as their papers define them."""
