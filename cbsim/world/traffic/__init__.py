"""Reactive traffic of a World: tables of the road and of the cars, made once, read by the kernels."""
