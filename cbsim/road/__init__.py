"""Road networks on the plane: lane curves, matching, routes, lanelets. Without numba, so that linters start fast."""
