"""Users' files: records, and pairs of them; the one door for files."""
