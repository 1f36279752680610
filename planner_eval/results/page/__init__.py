"""The page of a run: compared pairs as compact data, packed into one HTML file."""
