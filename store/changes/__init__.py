"""What conversations did to files, and how they went: read from the tool calls that a store keeps."""
