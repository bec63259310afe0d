"""How jobs are done: a request, its chunks, the workers that play them."""
