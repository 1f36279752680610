"""Running models: what a sample shows of itself, the pipelines that ask, and the runner that drives them."""
