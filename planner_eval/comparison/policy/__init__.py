"""How plans compare, as data: rules for values by tool and argument, and what order and repeats mean."""
