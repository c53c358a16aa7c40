"""What the pilot computes often: its look at a scan, ways across zones, and the speeds of its path."""
