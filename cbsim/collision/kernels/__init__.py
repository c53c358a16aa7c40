"""Compiled collisions: which pairs may meet, how far apart they are, when they meet, and what that does to vehicles."""
