"""Several stores as one: the profiles of a root, and the stores of hosts."""
