import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { freePort } from '@call-webhooks/contract-tests';

const here = fileURLToPath(new URL('../observability', import.meta.url));

it('npm start -- --once shows log lines, errors, spans and metrics of a call', async () => {
  const METRICS_PORT = String(await freePort());
  const { stdout, stderr } = await promisify(execFile)(
    'npm',
    ['start', '--silent', '--', '--once'],
    { cwd: here, env: { ...process.env, METRICS_PORT } },
  );
  for (const seen of [
    /onError {2}TypeError: fetch failed, caused by Error: connect ECONNREFUSED 127\.0\.0\.1:2/,
    /span {2}receive call:started/,
    /span {2}INSERT calls/,
    /span {2}process call:completed .* linked to [\da-f]{6} {2}dead-lettered/,
    /call_webhooks_deliveries_total\{.*outcome="handler-failed".*\} 5/,
    /call_webhooks_dead_letters_kept(\{\})? 1/,
    /call_webhooks_queue_depth\{call_webhooks_queue="calls",call_webhooks_state="dead"\} 1/,
  ])
    expect(stdout).toMatch(seen);
  expect(stderr).toMatch(/500 handler-failed.*fetch failed/);
  // From Node 24 on, errors of fetch do not have the frames of their callers.
  if (Number.parseInt(process.versions.node, 10) < 24)
    expect(stderr).toMatch(/at async .*receiver\.ts:\d+/);
});
