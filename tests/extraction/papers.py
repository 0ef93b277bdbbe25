"""PDF files as bytes, written by hand: as small as the format allows, and whole."""

import io

import pypdf


def pdf(*pages: str) -> bytes:
    """A PDF with one page for each Latin text; lines are set under each other."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for i, page in enumerate(pages):
        lines = " 0 -14 Td ".join(f"({line}) Tj" for line in page.splitlines())
        content = f"BT /F1 12 Tf 72 720 Td {lines} ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R "
            f"/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    out, places = "%PDF-1.4\n", []
    for number, thing in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{thing}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")


def locked(raw: bytes, user: str, owner: str = "owner") -> bytes:
    """The same file, encrypted; an empty user password locks it for changes only."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(raw))
    writer.encrypt(user, owner, algorithm="RC4-128")
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()
