"""From rows to figures and views: counts, reports, intervals, systems compared, and how they are written."""
