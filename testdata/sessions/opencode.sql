BEGIN TRANSACTION;
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL
        );
INSERT INTO message VALUES('msg_20400967f001OD2jfaM78t723m','ses_dfbff6b21ffeNePAAQ76xEBCfg',1795363477119,1795363479241,'{"role":"user","time":{"created":1795363477119},"agent":"build","model":{"providerID":"standin","modelID":"stand-in"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_204009cf6001nsgaKvmKpBvB4k','ses_dfbff6b21ffeNePAAQ76xEBCfg',1795363478775,1795363480981,'{"parentID":"msg_20400967f001OD2jfaM78t723m","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/opencode/proj","root":"/home/me/opencode/proj"},"cost":0.012264,"tokens":{"total":8160,"input":8156,"output":4,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stand-in","providerID":"standin","time":{"created":1795363478775,"completed":1795363480979},"finish":"stop"}');
INSERT INTO message VALUES('msg_20400b8660011oDn3qxc1iGTN8','ses_dfbff6b21ffeNePAAQ76xEBCfg',1795363485798,1795363488231,'{"role":"user","time":{"created":1795363485798},"agent":"build","model":{"providerID":"standin","modelID":"stand-in"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_20400c118001NE5NHsWopBfs1V','ses_dfbff6b21ffeNePAAQ76xEBCfg',1795363488025,1795363490592,'{"parentID":"msg_20400b8660011oDn3qxc1iGTN8","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/opencode/proj","root":"/home/me/opencode/proj"},"cost":0.0130755,"tokens":{"total":8709,"input":8707,"output":2,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stand-in","providerID":"standin","time":{"created":1795363488025,"completed":1795363490590},"finish":"stop"}');
INSERT INTO message VALUES('msg_20400ebbf001lQpLeD5IcAUaYe','ses_dfbff6b21ffeNePAAQ76xEBCfg',1795363498943,1795363501334,'{"role":"user","time":{"created":1795363498943},"agent":"build","model":{"providerID":"standin","modelID":"stand-in"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_20400f446001Br3GhsahZe4hXT','ses_dfbff6b21ffeNePAAQ76xEBCfg',1795363501126,1795363502643,'{"parentID":"msg_20400ebbf001lQpLeD5IcAUaYe","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/opencode/proj","root":"/home/me/opencode/proj"},"cost":0.0139215,"tokens":{"total":9273,"input":9271,"output":2,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stand-in","providerID":"standin","time":{"created":1795363501126,"completed":1795363502641},"finish":"stop"}');
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer
        );
INSERT INTO session VALUES('ses_dfbff6b21ffeNePAAQ76xEBCfg','global',NULL,NULL,'jolly-meadow','/home/me/opencode/proj','','Got it: 4711.','1.18.33',NULL,0,0,0,NULL,NULL,0.039261000000000004228,26134,8,0,0,0,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"stand-in","providerID":"standin","variant":"default"}',1795363476703,1795363502661,NULL,NULL);
COMMIT;
