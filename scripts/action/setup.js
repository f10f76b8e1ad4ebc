// Installs the shims for the job, and puts them first on PATH for its further steps.
'use strict';

const { execFileSync } = require('node:child_process');
const { appendFileSync } = require('node:fs');
const { join } = require('node:path');

const env = process.env;
const input = (name) => env[`INPUT_${name.toUpperCase()}`] || '';

function release() {
  if (input('from')) return input('from');
  const version = input('version') || env.GITHUB_ACTION_REF || '';
  if (!/^v\d+\.\d+\.\d+/.test(version)) {
    throw new Error(`${version || 'this checkout'} is not a version: name one, as version: v0.1.0`);
  }
  return `${env.GITHUB_SERVER_URL}/${env.GITHUB_ACTION_REPOSITORY}/releases/download/${version}`;
}

try {
  const directory = join(env.RUNNER_TEMP, 'reprise', 'bin');
  const args = [join(__dirname, '..', '..', 'install.sh'), '--from', release(), '--bin-dir', directory];
  if (input('tools')) args.push('--tools', input('tools'));
  if (input('store')) args.push('--store');
  if (input('unsigned') === 'true') args.push('--unsigned');
  execFileSync('sh', args, { stdio: 'inherit' });
  appendFileSync(env.GITHUB_PATH, `${directory}\n`);
  if (input('store')) appendFileSync(env.GITHUB_ENV, `REPRISE_STORE=${input('store')}\n`);
} catch (error) {
  console.log(`::error::reprise is not set up: ${error.message}`);
  process.exitCode = 1;
}
