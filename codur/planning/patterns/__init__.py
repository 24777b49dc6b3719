"""Phase 0: a request settled by its words, or what is known of it for the later phases. No model."""
