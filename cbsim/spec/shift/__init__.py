"""What a Shift file says: assemblies of bodies and joints, before any of it is a mechanism."""
