"""Published data sets: fetching and reading them, and their samples."""
