"""The one home of SQLite: every table, statement and transaction."""
