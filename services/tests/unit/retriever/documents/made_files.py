"""Small real files of every kind, made for the tests."""

import io
import zipfile
from collections.abc import Sequence

import docx
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def make_pdf(pages: Sequence[str], *, title: str = "", password: str = "") -> bytes:
    """Return a PDF with lines of text in Helvetica on each page."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(width=595, height=842)
        stream = DecodedStreamObject()
        lines = "".join(f"({line}) Tj T*\n" for line in text.split("\n"))
        stream.set_data(f"BT /F1 12 Tf 14 TL 72 770 Td\n{lines}ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    packed = io.BytesIO()
    writer.write(packed)
    return packed.getvalue()


def make_docx(*, title: str = "") -> bytes:
    """Return a docx with two headings, paragraphs and a table."""
    document = docx.Document()
    document.core_properties.title = title
    document.add_heading("Mountains", level=1)
    document.add_paragraph("Etna is a volcano in Italy.")
    document.add_heading("Heights", level=2)
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text = "Fuji"
    table.rows[0].cells[1].text = "3,776 m"
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def with_part(content: bytes, name: str, data: bytes) -> bytes:
    """Return the archive with the data in place of a part."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as changed,
    ):
        for member in archive.namelist():
            changed.writestr(member, data if member == name else archive.read(member))
    return packed.getvalue()
