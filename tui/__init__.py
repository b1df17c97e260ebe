"""The terminal browser and its command line."""
