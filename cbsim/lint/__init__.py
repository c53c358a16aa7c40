"""Lint rules over whole specs, which yield located problems."""
