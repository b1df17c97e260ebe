"""The trash: each deletion is one SQLite file, which opens like a store and can be restored
completely."""
