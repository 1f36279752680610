"""JSON Schema: to types and back, its keywords, and holding values against it."""
