"""What the stages of conversations tell whoever watches: told from the rows, to sinks."""
