"""Keys and passwords in texts: found by rule tables, and masked."""
