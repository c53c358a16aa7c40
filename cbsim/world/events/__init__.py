"""Events compiled: tables for kernels, names for people."""
