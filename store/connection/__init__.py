"""Open, read, close: leased read connections, their schema, and values read with suspicion."""
