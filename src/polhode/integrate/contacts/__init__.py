"""Contacts: shapes and their distance, impacts, friction, and the loop that steps from one to the next."""
