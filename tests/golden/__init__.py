"""Golden digests: what every shipped scenario, mechanism, model and sensor computes, held bit by bit."""
