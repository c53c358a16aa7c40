"""Loading of scenarios, object files and models, with every file they refer to, into a World."""
