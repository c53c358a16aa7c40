"""Files as documents: their text, its history and its meaning, and edits as minimal patches, without a window."""
