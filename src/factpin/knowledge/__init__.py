"""Encoders that look things up: KnowBERT's KAR, Entities as Experts, Facts as Experts, over the entities of a store."""
