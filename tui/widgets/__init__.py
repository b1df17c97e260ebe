"""What screens are made of: lines, rows, columns, cards, bindings."""
