"""What a conversation lost and kept each time Hermes compressed it, and what the model was given at a message."""
