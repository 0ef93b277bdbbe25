"""Thin bridges to other programs. None of them is imported until it is used."""
