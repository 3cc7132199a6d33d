"""An example of every part that a package can add to scaar."""
