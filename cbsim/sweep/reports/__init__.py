"""Pages and comparisons made of the rows of a sweep."""
