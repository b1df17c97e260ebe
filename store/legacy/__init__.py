"""Old transcripts: conversations that Hermes keeps, or has left behind, as files beside its
store."""
