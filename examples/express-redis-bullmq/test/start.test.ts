import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { describeWithProgram } from '@call-webhooks/contract-tests';

const here = fileURLToPath(new URL('..', import.meta.url));

describeWithProgram('redis-server', 'examples/express-redis-bullmq', () => {
  it('npm start -- --once: responses and effects are as expected, and all processes exit on SIGTERM', async () => {
    const env = { ...process.env, REDIS_URL: undefined, FORCE_COLOR: undefined, NO_COLOR: '1' };
    const { stdout } = await promisify(execFile)('npm', ['start', '--silent', '--', '--once'], {
      cwd: here,
      env,
    });
    expect(stdout).toContain('All responses and effects are as expected.');
    expect(stdout).toContain('health: {"ok":true');
    expect(stdout).toMatch(/worker │ call-\d completed on attempt 3/);
    for (const name of ['receiver 1', 'receiver 2', 'worker'])
      expect(stdout).toContain(`${name} │ closed`);
    expect(stdout).not.toContain('whsec_');
  });
});
