import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const here = fileURLToPath(new URL('..', import.meta.url));

it('npm start -- --once: everything is as expected, and no secret is printed', async () => {
  const env = { ...process.env, FORCE_COLOR: undefined, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)('npm', ['start', '--silent', '--', '--once'], {
    cwd: here,
    env,
  });
  expect(stdout.match(/as expected/g)).toHaveLength(6);
  expect(stdout).not.toContain('wrong');
  expect(stdout.match(/listening on port/g)).toHaveLength(2);
  expect(stdout).not.toContain('\u001b');
  expect(stdout).not.toContain('whsec_');
}, 60_000);

it('npm run receiver without its settings ends with what to do, and without a stack trace', async () => {
  const execution = promisify(execFile)('npm', ['run', 'receiver', '--silent'], {
    cwd: here,
    env: { ...process.env, SERVICE_URL: undefined },
  });
  await expect(execution).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^SERVICE_URL, API_TOKEN: .*absolute URL, such as .*\n$/),
  });
});
