"""Chat messages decoded: what a transcript is made of."""
