"""The number of rows of every table, counted before and after a delete: nothing may go that is not
in the trash.

A delete names the rows it takes, but what else goes with them is decided by the store: by triggers
and by foreign keys that cascade. So the tables are counted within the transaction, all of them, and
any other difference than the expected one rolls it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..connection.reader import Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import StoreRefusedError
from ..text import one_line
from ..wording import _

_SHADOWS = ("data", "idx", "content", "docsize", "config")
"""Endings of the tables in which FTS5 keeps an index: their rows are none of the user's."""


class TableCounts:
    """The number of rows of every ordinary table of a store, counted now.

    `rows` runs a SELECT in the open transaction and returns all its rows.
    """

    def __init__(self, rows: Callable[[str], list[Row]]) -> None:
        self._rows = rows
        self._before = self._count()

    def _count(self) -> dict[str, int]:
        tables = self._rows(
            "SELECT name, COALESCE(sql, '') FROM sqlite_master WHERE type = 'table'"
        )
        virtual = {
            str(name) for name, sql in tables if str(sql).upper().startswith("CREATE VIRTUAL")
        }
        kept_by_sqlite = virtual | {f"{name}_{ending}" for name in virtual for ending in _SHADOWS}
        ordinary = [str(name) for name, _sql in tables if not str(name).startswith("sqlite_")]
        return {
            name: as_int(self._rows(f"SELECT count(*) FROM {sql_name(name)}")[0][0])
            for name in ordinary
            if name not in kept_by_sqlite
        }

    def check(self, gone: Mapping[str, int]) -> None:
        """Count again, and compare.

        Args:
            gone: By table, how many rows have been deleted on purpose; none of the other tables.

        Raises:
            StoreRefusedError: A table has other rows fewer, or more, than that; the transaction
                must be rolled back.
        """
        after = self._count()
        for table, before in self._before.items():
            expected = before - gone.get(table, 0)
            found = after.get(table, 0)
            if found != expected:
                raise StoreRefusedError(
                    _(
                        "The table {table} would have {found:,} rows after the delete, not {expected:,}: the trash "
                        "would not have all that is gone, so the delete was taken back."
                    ).format(table=one_line(table, 100), found=found, expected=expected),
                    remedy=_(
                        "Something in this store changes rows by itself. Use Hermes' own commands for it."
                    ),
                )
