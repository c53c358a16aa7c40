"""Contents of a Shift file: assemblies of bodies and joints."""
