"""Documents that carry their text: Office files, books, web pages, messages and plain text, all read by `open_text_document`."""
