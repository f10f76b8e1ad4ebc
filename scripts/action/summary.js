// Adds what resuming saved to the summary of the job. It never fails a job.
'use strict';

const { execFileSync } = require('node:child_process');
const { appendFileSync } = require('node:fs');
const { join } = require('node:path');

const env = process.env;

if (env.INPUT_SUMMARY !== 'false') {
  try {
    const summary = execFileSync(join(env.RUNNER_TEMP, 'reprise', 'bin', 'shimctl'), ['stats', '--summary']);
    appendFileSync(env.GITHUB_STEP_SUMMARY, summary);
  } catch (error) {
    console.log(`::warning::no summary of reprise: ${error.message}`);
  }
}
