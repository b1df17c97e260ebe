"""The style sheets of the browser."""
