"""Plans that are programs: Python and JavaScript, read statically and never run."""
