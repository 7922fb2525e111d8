"""What is compared, how it is measured and what is kept. Knows no GPU API."""

__version__ = "0.1.0"
