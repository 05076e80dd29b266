import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import { serveLocally } from '@call-webhooks/contract-tests';
import { controlOf } from '../tour/control.ts';
import { logLines } from '../tour/log-lines.ts';
import { tourOf } from '../tour/tour.ts';

const here = fileURLToPath(new URL('../tour', import.meta.url));
const start = (env: Partial<NodeJS.ProcessEnv>) =>
  promisify(execFile)('npm', ['start', '--silent', '--', '--once'], {
    cwd: here,
    env: { ...process.env, FORCE_COLOR: undefined, TZ: 'UTC', ...env },
  });

/** What docs/images/start.svg shows. */
async function picture(): Promise<string> {
  const svg = await readFile(new URL('../../docs/images/start.svg', import.meta.url), 'utf8');
  return svg
    .replace(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
}

/** The words of an output, without ids and numbers, which differ in each run. */
const wordsOf = (output: string): string[] => [
  ...new Set(
    output
      .replace(/[\da-f]{8}[\da-f-]*/g, 'id')
      .replace(/\d+/g, '0')
      // The status names the day of what was before midnight.
      .replace(/\b\w+day\b/g, '')
      .split(/\s+/),
  ),
];

it('npm start -- --once: every response is as expected, in plain text in a pipe', async () => {
  const { stdout } = await start({});
  expect(stdout).toContain('All 28 responses are as expected.');
  // The warning comes four attempts before the pause, and the tour ends in a calm state.
  expect(stdout).toMatch(
    /call:completed · attempt 2 +401 signature-mismatch[^]*\n\nStatus: 1 thing needs attention[^]*call:completed · attempt 3 +200 handled[^]*\n\nStatus: No event is overdue; /,
  );
  expect(stdout).not.toContain('the rule is paused');
  for (const seen of ['500 handler-failed', 'attempt 2', 'duplicate', '409 replayed', 'ignored'])
    expect(stdout).toContain(seen);
  expect(stdout).not.toContain('\u001b');
  const rows = stdout.split('\n').filter((line) => !line.includes('receiver │'));
  expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(80);
  // The picture is up to date. It leaves out the log of the receiver.
  expect(wordsOf(await picture())).toEqual(expect.arrayContaining(wordsOf(rows.join('\n'))));
  expect(stdout).not.toContain('whsec_');
});

it('exits with 1 if the receiver does not start', async () => {
  const other = await serveLocally(() => undefined);
  await expect(start({ PORT: new URL(other.origin).port })).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('receiver │ PORT: listen EADDRINUSE'),
    stderr: expect.stringContaining('The receiver exited.'),
  });
  await other.close();
});

it('notices unexpected responses', async () => {
  const simulator = await startSimulator({ clock: 'manual', seed: 1 });
  const receiver = await serveLocally((request, response) => {
    request.resume().on('end', () => response.end('{"outcome":"handled"}'));
  });
  const lines: string[] = [];
  const [started, completed, recording] = [generateSecret(), generateSecret(), generateSecret()];
  const target = { url: receiver.origin, secrets: { started, completed, recording } };
  const pace = { print: (text: string) => void lines.push(text), pauseMs: 0 };
  const operations = { deploy: () => Promise.resolve(), showStatus: () => Promise.resolve() };
  const tour = await tourOf(controlOf(simulator.url), target, operations, pace);
  const { wrong } = await tour.take();
  // The inspector has nothing to warn of.
  expect(simulator.rules.list().map(({ state }) => state)).toEqual(['active', 'active', 'active']);
  await simulator.close();
  await receiver.close();
  expect(wrong).toHaveLength(7);
  expect(wrong.join()).toContain('expected 401 signature-mismatch, 200 handled');
  expect(lines.join('\n')).toContain('replayed');
});

it('breaks the log lines of the receiver between words', () => {
  const line = '    at run (packages/core/src/run.ts:1:1) with https://example.com/a/long/path';
  const lines = logLines(line, '  receiver │ ', 60);
  expect(lines.map(({ length }) => length <= 60)).not.toContain(false);
  expect(lines.join(' ').replaceAll('  receiver │     ', '')).toBe(line.trim());
});
