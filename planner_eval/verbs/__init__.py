"""The public verbs: texts, data, plans and files in, typed results out; each command calls its own."""
