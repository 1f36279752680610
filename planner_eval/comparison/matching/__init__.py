"""How calls are paired: what a pair costs, which pairing is cheapest, and a policy's part in it."""
