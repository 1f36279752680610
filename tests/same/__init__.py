"""Two versions of the code over the same inputs, side by side: what differs, byte by byte."""
