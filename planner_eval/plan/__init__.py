"""What a plan is, and when two mean the same; no input, no output."""
