"""Every screen beside the main one, and the base classes they share."""
