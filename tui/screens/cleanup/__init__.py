"""The screens of a clean-up: the plan, the time axis, the map of space; what Hermes deletes by
itself."""
