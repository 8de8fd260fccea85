"""The shared engine of Jiyi: storage, recall and forgetting behind every front end."""
