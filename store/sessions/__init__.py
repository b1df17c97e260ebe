"""Sessions of a store: read, folded into conversations, listed, and looked up."""
