"""A conversation on the screen: what it says as blocks, the page of it that is shown, and the
widget."""
