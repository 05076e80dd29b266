import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';
import { serveLocally } from '@call-webhooks/contract-tests';
import { controlOf } from '../control.ts';
import { tourOf } from '../tour.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const start = (env: NodeJS.ProcessEnv) =>
  promisify(execFile)('npm', ['start', '--silent', '--', '--once'], {
    cwd: here,
    env: { ...process.env, FORCE_COLOR: undefined, ...env },
  });

it('npm start -- --once: every response is as expected, in plain text in a pipe', async () => {
  const { stdout } = await start({});
  expect(stdout).toContain('All 18 responses are as expected.');
  for (const seen of ['500 handler-failed', 'attempt 2', 'duplicate', '409 replayed', 'ignored'])
    expect(stdout).toContain(seen);
  expect(stdout).not.toContain('\u001b');
  const rows = stdout.split('\n').filter((line) => !line.includes('receiver │'));
  expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(stdout).not.toContain('whsec_');
});

it('exits with 1 if the receiver does not start', async () => {
  await expect(start({ CALL_WEBHOOK_SECRET: 'whsec_short' })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The receiver exited.'),
  });
});

it('notices unexpected responses', async () => {
  const simulator = await startSimulator({ clock: 'manual', seed: 1 });
  const receiver = await serveLocally((request, response) => {
    request.resume().on('end', () => response.end('{"outcome":"handled"}'));
  });
  const lines: string[] = [];
  const target = { url: receiver.origin, secret: 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=' };
  const pace = { print: (text: string) => void lines.push(text), pauseMs: 0 };
  const tour = await tourOf(controlOf(simulator.url), target, pace);
  const { wrong } = await tour.take();
  await simulator.close();
  await receiver.close();
  expect(wrong).toHaveLength(6);
  expect(wrong.join()).toContain('expected 401 signature-mismatch, 200 handled');
  expect(lines.join('\n')).toContain('replayed');
});
