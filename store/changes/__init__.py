"""What conversations did to files, and how they went: from the tool calls that a store keeps."""
