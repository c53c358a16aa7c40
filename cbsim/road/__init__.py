"""Questions about a road network: lane curves, matching, routes. Free of numba, so that a linter starts fast."""
