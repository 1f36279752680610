"""Where people work already: a module for each tool that they use, over the public verbs."""
