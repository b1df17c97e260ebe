"""The terminal itself: its driver, its loss, early keys, the clipboard, other programs."""
