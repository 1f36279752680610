"""Care for data sets: gold audited, plans made, fixes suggested, failures shrunk, coverage, duplicates."""
