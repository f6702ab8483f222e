"""Write the tables of docs/schema.md from clew.stores.schema.

python docs/schema_tables.py          rewrites them in place
python docs/schema_tables.py --check  exits with 1 if they are out of date
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from clew.stores.schema import SQL_TYPES, TABLES, Table

PAGE = Path(__file__).parent / "schema.md"
PLACE = re.compile(r"(<!-- tables -->\n).*?(<!-- end -->)", re.DOTALL)


def described(table: Table) -> str:
    """Return a table's heading, what it holds, and its columns."""
    lines = [f"### {table.name}", "", f"{table.doc}. Rows are in the order of {table.order}.", ""]
    lines += ["| column | type | |", "|---|---|---|"]
    for column in table.columns:
        kind = f"{SQL_TYPES[column.kind]} (JSON)" if column.kind == "json" else SQL_TYPES[column.kind]
        lines.append(f"| `{column.name}` | {kind} | {column.doc} |")
    return "\n".join(lines) + "\n"


def rendered(text: str) -> str:
    """Return the page with its tables made anew."""
    tables = "\n".join(described(table) for table in TABLES.values())
    return PLACE.sub(lambda match: f"{match[1]}\n{tables}\n{match[2]}", text)


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    new = rendered(text)
    if new == text:
        return 0
    if "--check" in sys.argv[1:]:
        print(f"{PAGE.name}: the tables are out of date; run python docs/schema_tables.py", file=sys.stderr)
        return 1
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
