"""What differs between two plans, as a person would say it: partners, edits, causes, sentences."""
