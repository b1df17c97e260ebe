"""The screen of how a conversation went."""
