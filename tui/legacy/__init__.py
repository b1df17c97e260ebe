"""Old transcripts: files beside a store."""
