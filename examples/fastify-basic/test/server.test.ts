import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';

it('handles the calls of the service, parses JSON elsewhere, and exits on SIGTERM', async () => {
  const server = fork(fileURLToPath(new URL('../server.ts', import.meta.url)), {
    env: { ...process.env, CALL_WEBHOOK_SECRET: SECRET, PORT: '0' },
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
    silent: true,
  });
  const ended = once(server, 'exit');
  const simulator = await startSimulator({ clock: 'manual', seed: 1 });
  try {
    const [{ url }] = (await once(server, 'message')) as [{ url: string }];
    simulator.rules.forwardTo(url, { secret: SECRET });
    simulator.chaos.set({ duplicate: 1 });
    simulator.calls.place();
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.counts()).toEqual({ acknowledged: 6 });
    const answers = simulator.deliveries
      .list()
      .flatMap(({ attempts }) => attempts)
      .map(({ response }) => (response?.kind === 'status' ? response.body : response?.kind));
    const count = (outcome: string) => answers.filter((body) => body?.includes(outcome)).length;
    expect(answers).toHaveLength(6);
    // call:started has no handler in this example.
    expect([count('handled'), count('duplicate'), count('ignored')]).toEqual([2, 2, 2]);
    const echo = await fetch(url.replace('/hook', '/echo'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    expect(await echo.json()).toEqual({ a: 1 });
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    server.kill('SIGKILL');
    await simulator.close();
  }
});

it('without a secret, exits with the fix and without a stack trace', async () => {
  const server = fork(fileURLToPath(new URL('../server.ts', import.meta.url)), {
    env: { ...process.env, CALL_WEBHOOK_SECRET: undefined },
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
    silent: true,
  });
  let said = '';
  server.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  expect(await once(server, 'close')).toEqual([1, null]);
  expect(said).toMatch(
    /^CALL_WEBHOOK_SECRET: .*Is the environment variable set\? Copy the whole secret .*\n$/,
  );
});
