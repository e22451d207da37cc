"""The equations of motion, each written once: plain functions on tuples of any scalar type, free of library imports."""
