"""Analyse compactions: what each kept and lost, and the context that the model was sent at a
message."""
