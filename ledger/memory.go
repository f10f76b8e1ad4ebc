package ledger

import "C" // for memory.c, which gives SQLite its memory
