"""Loading: scenarios, object files and models, with every file they refer to, compiled into a World."""
