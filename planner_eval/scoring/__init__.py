"""From rows to figures: counts, reports, intervals, two systems compared, and how they are written."""
