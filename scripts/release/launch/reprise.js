#!/usr/bin/env node
// Runs reprise.sh of the package that has the programs for this machine.
'use strict';

const { spawnSync } = require('child_process');
const path = require('path');

const name = `@reprise/${process.platform}-${process.arch}`;
let manifest;
try {
  manifest = require.resolve(`${name}/package.json`);
} catch {
  console.error(`error: the package ${name} is not installed\nhint: Linux on x64 and arm64 has one; install it beside reprise`);
  process.exit(1);
}
const script = path.join(path.dirname(manifest), 'reprise.sh');
const ended = spawnSync('/bin/sh', [script, ...process.argv.slice(2)], { stdio: 'inherit' });
if (ended.error) throw ended.error;
if (ended.signal) process.kill(process.pid, ended.signal);
process.exitCode = ended.status;
