"""What happened since the user looked: what waits, went wrong, is new or is running."""
