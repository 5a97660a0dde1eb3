"""Every transport, and every step of the model's graph, through the implementation."""
