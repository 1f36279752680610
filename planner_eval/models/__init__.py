"""Models: asking them, judges, and the pipelines that run them on samples."""
