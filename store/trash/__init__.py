"""The trash: deleted conversations in folders that can be read without this program and restored
completely."""
