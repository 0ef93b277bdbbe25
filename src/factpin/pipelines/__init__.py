"""The line put together: what the doors call. Functions take paths and documents, give results, and print nothing."""
