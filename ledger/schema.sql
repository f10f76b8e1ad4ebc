CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE chains (
	id         INTEGER PRIMARY KEY,
	tool       TEXT NOT NULL,
	cwd        TEXT NOT NULL,
	home       TEXT NOT NULL,
	rule       TEXT NOT NULL DEFAULT '',   -- whose names task and role are, '' where the caller gave them
	task       TEXT NOT NULL,              -- '' where continuity alone made the chain
	role       TEXT NOT NULL,
	session_id INTEGER,                    -- the newest
	since      INTEGER,                    -- the session that it was last begun anew with, NULL for its newest
	first_line BLOB NOT NULL DEFAULT x'',  -- its digest, of what the newest session was sent
	concurrent INTEGER NOT NULL DEFAULT 0, -- two of its calls have run at once
	created    INTEGER NOT NULL,
	updated    INTEGER NOT NULL
);
CREATE INDEX chains_key ON chains (tool, cwd, home, rule, task, role, updated);
CREATE UNIQUE INDEX chains_named ON chains (tool, cwd, home, rule, task, role) WHERE task <> '';
CREATE INDEX chains_role ON chains (cwd, task, role);
CREATE INDEX chains_first_line ON chains (cwd, first_line, updated);
CREATE INDEX chains_updated ON chains (updated);

CREATE TABLE sessions (
	id            INTEGER PRIMARY KEY,
	chain_id      INTEGER NOT NULL REFERENCES chains (id) ON DELETE CASCADE,
	tool          TEXT NOT NULL,
	native_id     TEXT,
	format        INTEGER NOT NULL DEFAULT 1,   -- the Format that it was recorded in
	parent_id     INTEGER,                      -- the session that it began as a copy of
	state         TEXT NOT NULL,
	state_why     TEXT NOT NULL DEFAULT '',
	reset         INTEGER NOT NULL DEFAULT 0,   -- an answer has ended it
	callers_own   INTEGER NOT NULL DEFAULT 0,   -- the caller has gone on with it by its ID
	created       INTEGER NOT NULL,
	last_used     INTEGER NOT NULL,
	attempt       INTEGER,                      -- of its latest call
	turns         INTEGER NOT NULL DEFAULT 0,
	errors        INTEGER NOT NULL DEFAULT 0,
	-- What shaped it. settings and auth have a line for each digest.
	settings      TEXT NOT NULL,
	model         TEXT NOT NULL,
	first_model   TEXT NOT NULL DEFAULT '',     -- as the tool named it at the start
	runtime       TEXT NOT NULL,
	auth          TEXT NOT NULL,
	version       TEXT,
	caller        TEXT NOT NULL DEFAULT '',     -- the processes above its latest call
	-- Digests of what it was sent and has answered.
	root          BLOB NOT NULL DEFAULT x'',    -- of the first prompt that it was sent whole: its first line, its blocks
	base          BLOB NOT NULL,                -- of the blocks of the newest prompt
	base_lines    BLOB NOT NULL DEFAULT x'',    -- how many lines each of these blocks has
	base_opening  INTEGER NOT NULL,
	base_bytes    INTEGER NOT NULL,
	shape         BLOB NOT NULL DEFAULT x'',    -- of its exact text, by sections
	things        BLOB NOT NULL DEFAULT x'',    -- the names that runs touched or said first
	answers       BLOB NOT NULL DEFAULT x'',
	said          BLOB NOT NULL DEFAULT x'',    -- the other forms of its answers
	-- What its runs have left.
	transcript    INTEGER NOT NULL DEFAULT 0,
	compacted     INTEGER NOT NULL DEFAULT 0,
	context_used  INTEGER NOT NULL DEFAULT 0,
	context_limit INTEGER NOT NULL DEFAULT 0,
	totals        TEXT NOT NULL DEFAULT '',
	file          TEXT,
	stamp         TEXT,                         -- of what is stored in file: its size, or the values of a row
	left_files    TEXT NOT NULL DEFAULT '',     -- the files that its runs changed
	rounds        TEXT NOT NULL DEFAULT '',     -- its latest resumed rounds that were given the same, as JSON
	repository    TEXT NOT NULL DEFAULT '',     -- a digest, of the place where the latest run has left the directory
	branch        TEXT NOT NULL DEFAULT '',     -- likewise
	head          TEXT NOT NULL DEFAULT '',     -- the commit there
	-- Of a session in a store.
	shared        TEXT NOT NULL DEFAULT '',     -- the kind of the register that has it, '' for a session of this machine alone
	bundle_digest TEXT NOT NULL DEFAULT ''      -- of its files, as our last run left them
);
CREATE INDEX sessions_chain ON sessions (chain_id);
CREATE INDEX sessions_native ON sessions (native_id);
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_shared ON sessions (shared) WHERE shared <> '';

CREATE TABLE invocations (
	id           INTEGER PRIMARY KEY,
	chain_id     INTEGER REFERENCES chains (id) ON DELETE CASCADE,
	session_id   INTEGER REFERENCES sessions (id) ON DELETE CASCADE,
	tool         TEXT NOT NULL,
	cwd          TEXT NOT NULL,
	caller       TEXT NOT NULL DEFAULT '', -- the processes above the call
	format       TEXT NOT NULL,
	prompt_bytes INTEGER NOT NULL,         -- of what the caller sent
	sent_bytes   INTEGER NOT NULL,         -- of what the model was sent
	started      INTEGER NOT NULL,
	duration     INTEGER,
	-- The decision.
	mode         TEXT NOT NULL,
	reason       TEXT NOT NULL,
	detail       TEXT NOT NULL DEFAULT '',
	rule         TEXT NOT NULL DEFAULT '',
	arm          TEXT NOT NULL DEFAULT '', -- control or treated, '' where there was no control group
	why_whole    TEXT NOT NULL DEFAULT '', -- why a resumed session was sent the whole prompt
	cache_hour   INTEGER NOT NULL DEFAULT 0, -- the provider was asked to keep the prompt for an hour
	changed      TEXT NOT NULL DEFAULT '', -- names of what kept it fresh, with tabs between
	proof        TEXT NOT NULL DEFAULT '', -- what showed that it continued a session, as JSON
	unshared     TEXT NOT NULL DEFAULT '', -- why its session is not shared, although there is a store
	resumed_from TEXT,
	idle         INTEGER,                  -- of a resumed call: how long its session had not been used
	held         INTEGER,                  -- likewise: the tokens that it had been sent
	fell_back    TEXT,                     -- why the resume was given up for a fresh run
	-- The end.
	native_id    TEXT,
	id_source    TEXT,
	id_format    TEXT,                     -- the tool's own format that the ID was read from
	model        TEXT,
	input        INTEGER,
	cache_read   INTEGER,
	cache_write  INTEGER,
	output       INTEGER,
	first_prompt INTEGER,                  -- tokens of the first request, NULL if the tool reports only sums
	first_read   INTEGER,                  -- of these, those from the provider's cache
	cost         INTEGER,                  -- nano-dollars
	outcome      TEXT,                     -- ok, failed, unread, killed; NULL while it runs
	exit_code    INTEGER,
	signal       INTEGER
);
CREATE INDEX invocations_chain ON invocations (chain_id);
CREATE INDEX invocations_started ON invocations (started);
CREATE INDEX invocations_hour ON invocations (started) WHERE cache_hour;

CREATE TABLE answers ( -- the latest, by which a prompt that shows one is recognized
	invocation INTEGER PRIMARY KEY REFERENCES invocations (id) ON DELETE CASCADE,
	session    INTEGER NOT NULL,
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
	detail TEXT NOT NULL DEFAULT '', -- where the configuration had a mistake, or what failed: of the latest call
	PRIMARY KEY (tool, cwd, reason, day)
) WITHOUT ROWID;

CREATE TABLE daily ( -- when the shims last did what they do once a day
	what    TEXT PRIMARY KEY,
	claimed INTEGER NOT NULL
) WITHOUT ROWID;

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
