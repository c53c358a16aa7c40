"""Controllers: who moves an object, one file per controller."""
