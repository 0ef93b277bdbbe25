"""Rules about language, for Chinese and English: sentences, which language a text is in, assertion, coreference."""
