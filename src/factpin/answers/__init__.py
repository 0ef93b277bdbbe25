"""Answers to questions, read in passages. Comes in: a question and passages. Goes out: spans with exact characters."""
