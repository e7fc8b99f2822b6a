"""Makes a SQLite database with so many rows, each of which has some pages to itself."""

import sqlite3
import sys

file, rows = sys.argv[1], int(sys.argv[2])
text = "x" * 11000
store = sqlite3.connect(file)
store.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT)")
store.executemany("INSERT INTO item VALUES (?, ?)", ((row + 1, text) for row in range(rows)))
store.commit()
store.close()
