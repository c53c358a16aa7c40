"""Scripts of IRIT (``.irt``): words, grammar, and a machine that runs them within limits."""
