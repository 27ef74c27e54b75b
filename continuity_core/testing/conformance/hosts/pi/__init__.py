"""The real ``pi`` in RPC mode, with the real extension and a real child, as a host to be played."""
