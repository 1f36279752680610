"""One reader a dataset: a published file becomes an iterator of samples."""
