"""Ways of reactive cars through zones, laid when a World is made: from each way in to each spot, and out again."""
