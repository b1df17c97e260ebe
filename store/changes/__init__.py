"""What conversations did to files: read from the tool calls that a store keeps."""
