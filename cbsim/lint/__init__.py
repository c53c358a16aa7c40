"""Rules that look at a whole spec, or at several together, and yield located problems."""
