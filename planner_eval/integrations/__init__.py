"""Where people already work: small modules over the public verbs, each for one package, imported by name."""
