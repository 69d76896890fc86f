"""SQLite and PostgreSQL: connections, threads, timeouts, errors and checks of each engine."""
