"""Changes of lanes: neighbours, what the way asks for, passing, merging one by one."""
