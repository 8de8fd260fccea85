"""Files that memories come from and go to: our own archive, Markdown folders, and the formats of
other memory programs. Reads and writes files alone; what is stored is for others to decide."""
