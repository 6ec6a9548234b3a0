"""Privacy curves of single mechanisms, and conversions between them."""
