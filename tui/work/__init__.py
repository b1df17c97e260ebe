"""What happens behind the screen: the application, reads and writes of a store."""
