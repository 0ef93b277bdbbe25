"""Rules for Chinese and English: sentences, the language of a text, assertion, coreference."""
