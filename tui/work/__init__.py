"""What happens behind the screen: reads and writes of a store."""
