"""Tree search and bots on top of `jaxgo`'s playouts. Empty for now: the engine comes first."""
