"""How the structure of two plans differs."""
