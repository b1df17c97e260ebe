"""The terminal itself: its driver, its loss, early keys, other programs such as those of the clipboard."""
