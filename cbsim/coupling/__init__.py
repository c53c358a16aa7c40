"""Coupling: models and vehicles that touch, solved together as contact islands."""
