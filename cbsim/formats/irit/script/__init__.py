"""IRIT scripts (``.irt``): tokens, grammar and an interpreter with limits."""
