"""Running models on samples: a run made ready, driven, kept, and exported."""
