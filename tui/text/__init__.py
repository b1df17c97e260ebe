"""What screens and command line say alike: times, sizes, money, signs, plans, checks."""
