"""Collision detection of the rigid-body core: candidate pairs, contact points, elimination plan."""
