"""Objects as the editor handles them: fields, placement, stops, templates, preview; without a session."""
