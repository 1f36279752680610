"""Two plans compared: which call stands for which, what differs, and why."""
