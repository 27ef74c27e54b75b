"""What makes tests of recovery quick and certain: clocks that do not wait, and providers that fail on demand."""
