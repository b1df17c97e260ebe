"""What a user sets, in one TOML file, and what the browser remembers by itself, in a small file of
its own."""
