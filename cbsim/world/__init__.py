"""World (constants), Snapshot (everything that changes), and their compilation from specs."""
