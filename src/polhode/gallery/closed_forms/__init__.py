"""Closed-form solutions that only gallery models use."""
