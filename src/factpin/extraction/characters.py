"""Characters that cannot be written as UTF-8."""


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which some fonts and pages contain, by question marks."""
    return text.encode("utf-8", "replace").decode()
