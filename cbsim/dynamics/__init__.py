"""The rigid-body core: maximal coordinates, a variational integrator, interior-point contact, exact gradients."""
