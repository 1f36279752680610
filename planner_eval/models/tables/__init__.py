"""Tables of systems: models × parts × figures."""
