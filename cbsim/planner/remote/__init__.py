"""Planners in processes of their own: classes in a child process, and programs that speak the planner protocol."""
