"""The Pi coding agent: an extension in JavaScript, behind which the chain runs in a child process."""
