"""Writing to a store: one transaction (`transaction`), what forbids it (`guards`), and what is done
in it."""
