"""The command line: it parses options, calls one function below, and shows the result."""
