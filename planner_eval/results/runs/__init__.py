"""Long work in parts: cut, done by several processes, kept in a folder, gone on with, summed up."""
