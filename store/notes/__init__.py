"""What this program keeps of conversations, outside of the store: tags, and how far each is read."""
