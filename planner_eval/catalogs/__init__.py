"""Tool catalogs: what may be called, in which formats they come, and checking plans against them."""
