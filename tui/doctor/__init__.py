"""How store, Hermes and terminal are."""
