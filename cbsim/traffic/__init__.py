"""Controllers of objects, one file each."""
