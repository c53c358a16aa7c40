"""Events of a scenario in the editor: commands, the timeline, places on the map."""
