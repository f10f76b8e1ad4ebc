-- The tables of chains, sessions and calls are made from the fields of their structs: chain.go, record.go.

CREATE TABLE meta ( -- the key, the outcomes recorded last, when each daily task was last done
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX chains_key ON chains (tool, cwd, home, rule, task, role, updated);
CREATE UNIQUE INDEX chains_named ON chains (tool, cwd, home, rule, task, role) WHERE task <> '';
CREATE INDEX chains_role ON chains (cwd, task, role);
CREATE INDEX chains_first_line ON chains (cwd, first_line, updated);
CREATE INDEX chains_updated ON chains (updated);
CREATE INDEX sessions_chain ON sessions (chain_id);
CREATE INDEX sessions_native ON sessions (native_id);
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_shared ON sessions (shared) WHERE shared <> '';
CREATE INDEX calls_chain ON calls (chain_id);
CREATE INDEX calls_started ON calls (started);
CREATE INDEX calls_hour ON calls (started) WHERE cache_hour;

CREATE TABLE answers ( -- the latest: a prompt that shows one is recognized by it
	call INTEGER PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
	session    INTEGER NOT NULL,
	chain      INTEGER NOT NULL, -- of the session
	project    TEXT NOT NULL, -- the root of the repository, or the directory
	ended      INTEGER NOT NULL,
	lines      BLOB NOT NULL  -- digests of those that a prompt cannot hold by chance
);
CREATE INDEX answers_project ON answers (project, ended);

CREATE TABLE leases (
	session_id  INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	boot        TEXT NOT NULL,
	pid         INTEGER NOT NULL,
	pid_start   INTEGER NOT NULL,
	child       INTEGER NOT NULL DEFAULT 0, -- the tool's process, 0 until it runs
	child_start INTEGER NOT NULL DEFAULT 0,
	taken       INTEGER NOT NULL,
	namespace   TEXT NOT NULL DEFAULT ''    -- of the processes' IDs
);

CREATE TABLE runtimes (
	fingerprint TEXT PRIMARY KEY,
	probe       TEXT NOT NULL,
	probed      INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE passed ( -- headless calls that were passed through, as numbers
	tool   TEXT NOT NULL,
	cwd    TEXT NOT NULL,
	reason TEXT NOT NULL,
	day    INTEGER NOT NULL, -- since 1970, in UTC
	calls  INTEGER NOT NULL,
	last   INTEGER NOT NULL,
	detail TEXT NOT NULL DEFAULT '', -- the place of a mistake in the configuration, or the failed step: of the latest call
	PRIMARY KEY (tool, cwd, reason, day)
) WITHOUT ROWID;
