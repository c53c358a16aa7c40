"""Gradients of steps by states, inputs and parameters (docs/theory/gradients.md)."""
