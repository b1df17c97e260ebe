"""Other stores on the main screen: profiles, machines, old transcripts in files."""
