"""Several stores as one: the profiles of a root, and the stores of hosts; and old transcripts in files
beside a store."""
