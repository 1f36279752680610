"""What every room may use: errors, shipped files, text, tables, JSON text with its places."""
