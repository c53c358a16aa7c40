"""Bodies in the way of cars: which are on a lanelet, their outlines, which stand for good."""
