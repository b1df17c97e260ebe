"""The screen of what a conversation did to files."""
