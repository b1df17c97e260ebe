"""Open, read, close: short-lived read connections, their schema, and values read with suspicion."""
