"""The formats in which tool catalogs come, a module a family of formats."""
