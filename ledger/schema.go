package ledger

import _ "embed"

// schema makes what the migrations make of an empty ledger, several times faster.
//
//go:embed schema.sql
var schema string

// applicationID marks a SQLite file as a ledger ("rprs").
const applicationID = 0x72707273

// migrations bring a ledger from one version to the next. user_version counts the applied ones. A
// released migration is never changed.
var migrations = []string{`
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
);
CREATE INDEX chains_key ON chains (tool, cwd, home, task, role, updated);
CREATE UNIQUE INDEX chains_named ON chains (tool, cwd, home, task, role) WHERE task <> '';
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
	file_size     INTEGER
);
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
);
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
`, `
ALTER TABLE chains ADD COLUMN rule TEXT NOT NULL DEFAULT ''; -- whose names task and role are, '' where the caller gave them
DROP INDEX chains_key;
DROP INDEX chains_named;
CREATE INDEX chains_key ON chains (tool, cwd, home, rule, task, role, updated);
CREATE UNIQUE INDEX chains_named ON chains (tool, cwd, home, rule, task, role) WHERE task <> '';
CREATE INDEX chains_role ON chains (cwd, task, role);

ALTER TABLE sessions ADD COLUMN attempt INTEGER;                 -- of its latest call
ALTER TABLE sessions ADD COLUMN reset INTEGER NOT NULL DEFAULT 0; -- an answer has ended it

ALTER TABLE invocations ADD COLUMN rule TEXT NOT NULL DEFAULT '';
`, `
ALTER TABLE sessions ADD COLUMN said BLOB NOT NULL DEFAULT x''; -- the other forms of its answers
`, `
ALTER TABLE invocations ADD COLUMN arm TEXT NOT NULL DEFAULT ''; -- control or treated, '' where there was no control group

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
	last        INTEGER NOT NULL,
	PRIMARY KEY (rule, tool, model, side)
) WITHOUT ROWID;

-- From the latest calls only: an upgrade must not keep a caller waiting.
INSERT INTO meters
SELECT rule, tool, model, side, count(*), avg(input), avg(cache_read), avg(cache_write), avg(output),
	CASE WHEN count(cost) = count(*) THEN count(*) ELSE 0 END, coalesce(avg(cost), 0), avg(duration), max(ended)
FROM (
	SELECT *, row_number() OVER (PARTITION BY rule, tool, model, side ORDER BY ended DESC) AS age FROM (
		SELECT i.rule, i.tool, s.model, i.input, i.cache_read, i.cache_write, i.output, i.cost, i.duration,
			i.started + i.duration AS ended,
			CASE WHEN i.mode = 'resume' THEN 'resumed'
				WHEN i.fell_back IS NOT NULL OR i.reason IN ('leased', 'previous_failed', 'previous_killed',
					'previous_unknown', 'session_dead', 'no_resume_support', 'model_changed', 'settings_changed',
					'runtime_changed', 'auth_changed', 'idle', 'max_age', 'error_limit', 'context_full',
					'session_file_gone', 'session_changed', 'held_out') THEN 'follow_up'
				ELSE 'first' END AS side
		FROM invocations i JOIN sessions s ON s.id = i.session_id
		WHERE i.id > (SELECT max(id) FROM invocations) - 10000 AND i.outcome = 'ok' AND i.input IS NOT NULL
			AND i.duration IS NOT NULL)
) WHERE age <= 20 GROUP BY rule, tool, model, side;
`, `
ALTER TABLE sessions ADD COLUMN parent_id INTEGER;   -- the session that it began as a copy of
ALTER TABLE sessions ADD COLUMN parent_size INTEGER; -- how much of that one's file it holds
`, `
ALTER TABLE chains ADD COLUMN first_block BLOB NOT NULL DEFAULT x''; -- its digest, of what the newest session was sent

-- Of those used last only: an upgrade must not keep a caller waiting.
UPDATE chains SET first_block = coalesce((SELECT substr(base, 1, 16) FROM sessions WHERE id = session_id), x'')
WHERE id IN (SELECT id FROM chains ORDER BY updated DESC LIMIT 10000);
CREATE INDEX chains_first_block ON chains (cwd, first_block, updated);
`, `
-- How many lines each block of base has, digests of its exact text by sections, the names that runs touched or said first, and
-- runs of words of the newest answer.
ALTER TABLE sessions ADD COLUMN base_lines BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN shape BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN things BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN gist BLOB NOT NULL DEFAULT x'';

-- A chain is found by its first line: a block may grow. Chains from before are not continued without a name.
DROP INDEX chains_first_block;
ALTER TABLE chains DROP COLUMN first_block;
ALTER TABLE chains ADD COLUMN first_line BLOB NOT NULL DEFAULT x''; -- its digest, of what the newest session was sent
CREATE INDEX chains_first_line ON chains (cwd, first_line, updated);
`, `
-- settings and auth hold a line for each digest from now on.
ALTER TABLE sessions ADD COLUMN repository TEXT NOT NULL DEFAULT '';  -- a digest, of the place where the latest run has left the directory
ALTER TABLE sessions ADD COLUMN branch TEXT NOT NULL DEFAULT '';      -- likewise
ALTER TABLE sessions ADD COLUMN head TEXT NOT NULL DEFAULT '';        -- the commit there
ALTER TABLE sessions ADD COLUMN first_model TEXT NOT NULL DEFAULT ''; -- as the tool named it at the start

ALTER TABLE invocations ADD COLUMN changed TEXT NOT NULL DEFAULT ''; -- names of what kept it fresh, with tabs between
`, `
ALTER TABLE chains ADD COLUMN since INTEGER;                           -- the session that it was last begun anew with, NULL for its newest
ALTER TABLE chains ADD COLUMN concurrent INTEGER NOT NULL DEFAULT 0;   -- two of its calls have run at once
ALTER TABLE sessions ADD COLUMN callers_own INTEGER NOT NULL DEFAULT 0; -- the caller has gone on with it by its id
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
`, `
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
`, `
CREATE TABLE passed ( -- headless calls that were passed through, as numbers
	tool   TEXT NOT NULL,
	cwd    TEXT NOT NULL,
	reason TEXT NOT NULL,
	day    INTEGER NOT NULL, -- since 1970, in UTC
	calls  INTEGER NOT NULL,
	last   INTEGER NOT NULL,
	PRIMARY KEY (tool, cwd, reason, day)
) WITHOUT ROWID;
`, `
ALTER TABLE sessions ADD COLUMN stamp TEXT; -- of what is stored in file, as our last run left it: its size, or the values of a row
UPDATE sessions SET stamp = file_size WHERE file IS NOT NULL;
ALTER TABLE sessions DROP COLUMN file_size;
`, `
ALTER TABLE invocations ADD COLUMN idle INTEGER;         -- of a resumed call: how long its session had not been used
ALTER TABLE invocations ADD COLUMN held INTEGER;         -- likewise: the tokens that it had been sent
ALTER TABLE invocations ADD COLUMN first_prompt INTEGER; -- tokens of the first request, NULL if the tool reports only sums
ALTER TABLE invocations ADD COLUMN first_read INTEGER;   -- of these, those from the provider's cache
ALTER TABLE meters ADD COLUMN missed INTEGER NOT NULL DEFAULT 0; -- how many of the latest runs in a row found nothing there
`, `
ALTER TABLE sessions ADD COLUMN shared TEXT NOT NULL DEFAULT '';        -- the kind of the store's register that has it, '' for a session of this machine alone
-- What a register says of a session.
ALTER TABLE sessions ADD COLUMN bundle TEXT NOT NULL DEFAULT '';        -- its packed files in the store
ALTER TABLE sessions ADD COLUMN bundle_digest TEXT NOT NULL DEFAULT ''; -- of these files, as our last run left them
ALTER TABLE sessions ADD COLUMN tree TEXT NOT NULL DEFAULT '';          -- git's name of the directory's content at the end of its latest run
ALTER TABLE sessions ADD COLUMN host TEXT NOT NULL DEFAULT '';          -- of its latest run
ALTER TABLE sessions ADD COLUMN place TEXT NOT NULL DEFAULT '';         -- a digest: the directory itself, on that host
ALTER TABLE sessions ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;       -- how often it was taken
ALTER TABLE sessions ADD COLUMN holder TEXT NOT NULL DEFAULT '';        -- the run that has taken it, '' for none
ALTER TABLE sessions ADD COLUMN held_until INTEGER NOT NULL DEFAULT 0;  -- until when that run is waited for
CREATE INDEX sessions_shared ON sessions (shared) WHERE shared <> '';
`, `
ALTER TABLE sessions ADD COLUMN root BLOB NOT NULL DEFAULT x'';       -- digests of the first prompt that it was sent whole: its first line, its blocks
ALTER TABLE sessions ADD COLUMN caller TEXT NOT NULL DEFAULT '';      -- the processes above its latest call
ALTER TABLE sessions ADD COLUMN left_files TEXT NOT NULL DEFAULT '';  -- the files that its runs changed, as they left them
ALTER TABLE sessions DROP COLUMN gist;
ALTER TABLE invocations ADD COLUMN caller TEXT NOT NULL DEFAULT '';   -- the processes above the call
ALTER TABLE invocations ADD COLUMN proof TEXT NOT NULL DEFAULT '';    -- what showed that it continued a session, as JSON

CREATE TABLE answers ( -- the latest, by which a prompt that shows one is recognized
	invocation INTEGER PRIMARY KEY REFERENCES invocations (id) ON DELETE CASCADE,
	session    INTEGER NOT NULL,
	project    TEXT NOT NULL,    -- the root of the repository, or the directory
	ended      INTEGER NOT NULL,
	lines      BLOB NOT NULL,    -- digests of those that a prompt cannot hold by chance
	files      BLOB NOT NULL     -- digests of the files that it names
);
CREATE INDEX answers_project ON answers (project, ended);
`, `
ALTER TABLE invocations ADD COLUMN unshared TEXT NOT NULL DEFAULT ''; -- why its session is not shared, although there is a store
ALTER TABLE sessions DROP COLUMN fence;
`, `
ALTER TABLE sessions DROP COLUMN bundle;
ALTER TABLE sessions DROP COLUMN tree;
ALTER TABLE sessions DROP COLUMN host;
ALTER TABLE sessions DROP COLUMN place;
ALTER TABLE sessions DROP COLUMN holder;
ALTER TABLE sessions DROP COLUMN held_until;
`}
