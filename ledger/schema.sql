-- What the migrations make of an empty ledger. Written by: go test ./ledger -run TestSchema -update
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE chains (
	id         INTEGER PRIMARY KEY,
	tool       TEXT NOT NULL,
	cwd        TEXT NOT NULL,
	home       TEXT NOT NULL,
	task       TEXT NOT NULL, -- '' where continuity alone made the chain
	role       TEXT NOT NULL,
	session_id INTEGER,       -- the newest
	created    INTEGER NOT NULL,
	updated    INTEGER NOT NULL
, rule TEXT NOT NULL DEFAULT '', first_line BLOB NOT NULL DEFAULT x'', since INTEGER, concurrent INTEGER NOT NULL DEFAULT 0);
CREATE INDEX chains_updated ON chains (updated);
CREATE TABLE sessions (
	id            INTEGER PRIMARY KEY,
	chain_id      INTEGER NOT NULL REFERENCES chains (id) ON DELETE CASCADE,
	tool          TEXT NOT NULL,
	native_id     TEXT,
	state         TEXT NOT NULL,
	state_why     TEXT NOT NULL DEFAULT '',
	created       INTEGER NOT NULL,
	last_used     INTEGER NOT NULL,
	turns         INTEGER NOT NULL DEFAULT 0,
	errors        INTEGER NOT NULL DEFAULT 0,
	settings      TEXT NOT NULL,
	model         TEXT NOT NULL,
	runtime       TEXT NOT NULL,
	auth          TEXT NOT NULL,
	version       TEXT,
	base          BLOB NOT NULL,
	base_opening  INTEGER NOT NULL,
	base_bytes    INTEGER NOT NULL,
	answers       BLOB NOT NULL DEFAULT x'',
	transcript    INTEGER NOT NULL DEFAULT 0,
	compacted     INTEGER NOT NULL DEFAULT 0,
	context_used  INTEGER NOT NULL DEFAULT 0,
	context_limit INTEGER NOT NULL DEFAULT 0,
	totals        TEXT NOT NULL DEFAULT '',
	file          TEXT,
	attempt INTEGER, reset INTEGER NOT NULL DEFAULT 0, said BLOB NOT NULL DEFAULT x'', parent_id INTEGER, parent_size INTEGER, base_lines BLOB NOT NULL DEFAULT x'', shape BLOB NOT NULL DEFAULT x'', things BLOB NOT NULL DEFAULT x'', repository TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '', head TEXT NOT NULL DEFAULT '', first_model TEXT NOT NULL DEFAULT '', callers_own INTEGER NOT NULL DEFAULT 0, stamp TEXT, shared TEXT NOT NULL DEFAULT '', bundle_digest TEXT NOT NULL DEFAULT '', root BLOB NOT NULL DEFAULT x'', caller TEXT NOT NULL DEFAULT '', left_files TEXT NOT NULL DEFAULT '');
CREATE INDEX sessions_chain ON sessions (chain_id);
CREATE INDEX sessions_native ON sessions (native_id);
CREATE TABLE invocations (
	id           INTEGER PRIMARY KEY,
	chain_id     INTEGER REFERENCES chains (id) ON DELETE CASCADE,
	session_id   INTEGER REFERENCES sessions (id) ON DELETE CASCADE,
	tool         TEXT NOT NULL,
	cwd          TEXT NOT NULL,
	started      INTEGER NOT NULL,
	duration     INTEGER,
	mode         TEXT NOT NULL,
	reason       TEXT NOT NULL,
	detail       TEXT NOT NULL DEFAULT '',
	resumed_from TEXT,
	fell_back    TEXT,             -- why the resume was given up for a fresh run
	format       TEXT NOT NULL,
	native_id    TEXT,
	id_source    TEXT,
	id_format    TEXT,             -- the tool's own format that the id was read from
	model        TEXT,
	prompt_bytes INTEGER NOT NULL, -- of what the caller sent
	sent_bytes   INTEGER NOT NULL, -- of what the model was sent
	input        INTEGER,
	cache_read   INTEGER,
	cache_write  INTEGER,
	output       INTEGER,
	cost         INTEGER,          -- nano-dollars
	outcome      TEXT,             -- ok, failed, killed; NULL while it runs
	exit_code    INTEGER,
	signal       INTEGER
, rule TEXT NOT NULL DEFAULT '', arm TEXT NOT NULL DEFAULT '', changed TEXT NOT NULL DEFAULT '', idle INTEGER, held INTEGER, first_prompt INTEGER, first_read INTEGER, caller TEXT NOT NULL DEFAULT '', proof TEXT NOT NULL DEFAULT '', unshared TEXT NOT NULL DEFAULT '');
CREATE INDEX invocations_chain ON invocations (chain_id);
CREATE INDEX invocations_started ON invocations (started);
CREATE TABLE leases (
	session_id  INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	boot        TEXT NOT NULL,
	pid         INTEGER NOT NULL,
	pid_start   INTEGER NOT NULL,
	child       INTEGER NOT NULL DEFAULT 0, -- the tool's process, 0 until it runs
	child_start INTEGER NOT NULL DEFAULT 0,
	taken       INTEGER NOT NULL
);
CREATE TABLE runtimes (
	fingerprint TEXT PRIMARY KEY,
	probe       TEXT NOT NULL,
	probed      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX chains_key ON chains (tool, cwd, home, rule, task, role, updated);
CREATE UNIQUE INDEX chains_named ON chains (tool, cwd, home, rule, task, role) WHERE task <> '';
CREATE INDEX chains_role ON chains (cwd, task, role);
CREATE TABLE meters (
	rule        TEXT NOT NULL,
	tool        TEXT NOT NULL,
	model       TEXT NOT NULL, -- as it was asked for
	side        TEXT NOT NULL,
	runs        INTEGER NOT NULL,
	input       REAL NOT NULL, -- averages, as the cost in nano-dollars and the duration in milliseconds
	cache_read  REAL NOT NULL,
	cache_write REAL NOT NULL,
	output      REAL NOT NULL,
	priced      INTEGER NOT NULL,
	cost        REAL NOT NULL,
	duration    REAL NOT NULL,
	last        INTEGER NOT NULL, missed INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (rule, tool, model, side)
) WITHOUT ROWID;
CREATE INDEX chains_first_line ON chains (cwd, first_line, updated);
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE last_ids ( -- the highest that a row had which is gone: no other row gets it
	name TEXT PRIMARY KEY,
	id   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER chains_drop BEFORE DELETE ON chains BEGIN
	INSERT INTO last_ids VALUES ('chains', old.id) ON CONFLICT (name) DO UPDATE SET id = max(id, excluded.id);
END;
CREATE TRIGGER sessions_drop BEFORE DELETE ON sessions BEGIN
	INSERT INTO last_ids VALUES ('sessions', old.id) ON CONFLICT (name) DO UPDATE SET id = max(id, excluded.id);
END;
CREATE TRIGGER invocations_drop BEFORE DELETE ON invocations BEGIN
	INSERT INTO last_ids VALUES ('invocations', old.id) ON CONFLICT (name) DO UPDATE SET id = max(id, excluded.id);
END;
CREATE TABLE passed ( -- headless calls that were passed through, as numbers
	tool   TEXT NOT NULL,
	cwd    TEXT NOT NULL,
	reason TEXT NOT NULL,
	day    INTEGER NOT NULL, -- since 1970, in UTC
	calls  INTEGER NOT NULL,
	last   INTEGER NOT NULL,
	PRIMARY KEY (tool, cwd, reason, day)
) WITHOUT ROWID;
CREATE INDEX sessions_shared ON sessions (shared) WHERE shared <> '';
CREATE TABLE answers ( -- the latest, by which a prompt that shows one is recognized
	invocation INTEGER PRIMARY KEY REFERENCES invocations (id) ON DELETE CASCADE,
	session    INTEGER NOT NULL,
	project    TEXT NOT NULL,    -- the root of the repository, or the directory
	ended      INTEGER NOT NULL,
	lines      BLOB NOT NULL,    -- digests of those that a prompt cannot hold by chance
	files      BLOB NOT NULL     -- digests of the files that it names
);
CREATE INDEX answers_project ON answers (project, ended);
