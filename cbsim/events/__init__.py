"""Events in a step: conditions are looked at before it, and actions of those that come true are begun."""
