"""What could be cleaned up, measured and explained; nothing in this folder writes.

Rules choose conversations, a plan says what would go, what is spared and why, the space map shows where
the bytes are, and the radar what Hermes itself is going to delete.
"""
