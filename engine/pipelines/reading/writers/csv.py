"""CSV as spreadsheets read it: commas, quotes where needed, CRLF. A cell that spans stands at its first place."""

from __future__ import annotations

import csv
import io

from engine.pipelines.reading.tables import Table


def csv_of(table: Table) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(table.grid())
    return out.getvalue().encode()
