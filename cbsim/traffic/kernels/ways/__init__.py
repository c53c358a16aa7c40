"""Ways of cars: centrelines, the lanelets ahead with their lights and crosswalks, places beside the way."""
