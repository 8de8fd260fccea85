"""The server that assistants connect to by the Model Context Protocol."""
