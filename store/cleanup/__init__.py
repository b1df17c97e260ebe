"""What could be cleaned up, measured and explained; `bulk` carries it out in portions.

Rules choose conversations; a plan says what would go, what stays and why; the space map shows where
the bytes are; `retention` tells what Hermes itself is going to delete.
"""
