"""From a query to ranked candidates: pure steps over typed values."""
