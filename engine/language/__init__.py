"""Text to terms: folding, segmentation, stop words. Standard library at import time."""
