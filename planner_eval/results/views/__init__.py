"""Results in writing: text, JSON, CSV, Markdown, JUnit, SARIF, and what CI servers show."""
