import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const here = fileURLToPath(new URL('..', import.meta.url));

it('npm start -- --once: every answer is as it must be, and plain text in a pipe', async () => {
  const env = { ...process.env, FORCE_COLOR: undefined, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)('npm', ['start', '--silent', '--', '--once'], {
    cwd: here,
    env,
  });
  expect(stdout).toContain('All 11 answers are as they must be.');
  expect(stdout).toContain('receiver │ call call-2 completed (attempt 2)');
  expect(stdout).not.toContain('\u001b');
  expect(stdout).not.toContain('whsec_');
}, 60_000);
