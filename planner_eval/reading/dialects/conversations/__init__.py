"""Conversations, answers of APIs and traces: which calls they hold, and what the tools answered."""
