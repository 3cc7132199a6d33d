"""The query builder: turns a judged sentence into a query."""
