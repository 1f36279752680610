"""What every room may use: errors, limits, text, JSON with positions, tables, shipped files."""
