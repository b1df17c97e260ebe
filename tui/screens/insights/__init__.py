"""Insights: what the store was used for, as columns over time, a map of the week and a table."""
