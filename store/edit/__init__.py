"""Writing to a store: the one door (`unit`), who may pass (`guards`), and what is done behind it."""
