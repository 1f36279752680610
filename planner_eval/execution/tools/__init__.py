"""Python implementations of the benchmarks' tools; nothing is imported until asked for."""
