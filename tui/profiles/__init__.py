"""All profiles of a Hermes root: the card, and all of them as one list."""
