"""Recorded runs of agents: when tools and models ran, what failed, and what is wrong without any gold."""
