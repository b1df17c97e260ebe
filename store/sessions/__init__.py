"""Read the sessions of a store, fold them into conversations, list and find them."""
