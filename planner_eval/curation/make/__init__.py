"""New gold plans of wanted structure: a graph of tools, drawn plans, values, and what is kept of them."""
