"""The trash: deleted conversations as folders that can be read without this program, and put back whole."""
