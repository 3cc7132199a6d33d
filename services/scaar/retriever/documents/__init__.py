"""Folders of documents as people have them, read as passages: Markdown, HTML, text, PDF, docx."""
