"""Where people already work: small modules over the public functions, each for one package."""
