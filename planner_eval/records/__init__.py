"""Users' files: records, pairs of them, and a row for each pair; the one door for files."""
