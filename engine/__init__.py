"""The shared engine of Jiyi: storage, recall and forgetting behind every front end."""

VERSION = "0.1.0"
"""The product's version; a test keeps it equal to the package's."""
