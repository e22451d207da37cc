"""Drawing helpers that only gallery models use."""
