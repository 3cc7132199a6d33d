"""The console: pages that show why an answer retrieved, and how policies behave."""
