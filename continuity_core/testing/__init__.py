"""What makes tests of recovery quick and certain: clocks that do not wait, providers that fail on demand."""
