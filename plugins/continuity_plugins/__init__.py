"""The bundled plugins. They are found and loaded like anyone's, by entry point."""
