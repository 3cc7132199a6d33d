"""Bounded unpacking of the zip archives that office documents are."""

import io
import zipfile
import zlib

from scaar.retriever.documents.document import DocumentUnreadable

_PIECE = 65_536
_MAX_MEMBERS = 10_000
_READ = (".xml", ".rels")
_DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY")


def repack(content: bytes, most: int) -> bytes:
    """Return the archive with its XML uncompressed and everything else empty.

    The sizes that an archive states may be wrong, so that its reader must not rely on them.

    Raises:
        DocumentUnreadable: the file is not an archive or damaged, its XML unpacks to more than
            ``most`` bytes, or the XML declares a document type or entities.
    """
    packed = io.BytesIO()
    try:
        with (
            zipfile.ZipFile(io.BytesIO(content)) as archive,
            zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as safe,
        ):
            members = archive.infolist()
            if len(members) > _MAX_MEMBERS:
                raise DocumentUnreadable(f"has more than {_MAX_MEMBERS:,} parts")
            for member in members:
                is_read = member.filename.endswith(_READ)
                data = _unpack(archive, member, most) if is_read else b""
                most -= len(data)
                safe.writestr(member.filename, data)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise DocumentUnreadable(f"is damaged, encrypted, or not a docx: {error}") from error
    return packed.getvalue()


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    data = bytearray()
    with archive.open(member) as file:
        while piece := file.read(_PIECE):
            data += piece
            if len(data) > most:
                raise DocumentUnreadable("unpacks to more than the limit: it may be a zip bomb")
    # Any encoding of XML has these characters at most apart by zero bytes.
    plain = bytes(data).replace(b"\0", b"")
    if any(each in plain for each in _DECLARATIONS):
        raise DocumentUnreadable("declares a document type or entities, which no docx does")
    return bytes(data)
