"""Text before it is placed: times and sizes, signs, styled spans."""
