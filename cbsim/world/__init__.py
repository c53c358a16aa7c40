"""World (what never changes) and Snapshot (everything that changes), and the compiler that makes them from specs."""
