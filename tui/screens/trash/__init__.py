"""The trash on the screen."""
