import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';

it('handles the calls of the service, and exits on SIGTERM', async () => {
  const server = fork(fileURLToPath(new URL('../server.ts', import.meta.url)), {
    env: { ...process.env, CALL_WEBHOOK_SECRET: SECRET, PORT: '0' },
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
    silent: true,
  });
  let output = '';
  server.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(server, 'close');
  const simulator = await startSimulator({ clock: 'manual', seed: 1 });
  try {
    const [{ url }] = (await once(server, 'message')) as [{ url: string }];
    simulator.rules.forwardTo(url, { secret: SECRET });
    const payload = { ticket: 'T-{{callId}}', note: 'call {{calledName}} back' };
    const custom = {
      trigger: 'call:started',
      actions: [{ url, secret: SECRET, payload }],
    } as const;
    simulator.rules.create(custom);
    const { _id } = simulator.calls.place({ calledName: 'Ola Berg' });
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.counts()).toEqual({ acknowledged: 4 });
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    for (const line of [
      `call ${_id} started`,
      `call ${_id} completed (attempt 2)`,
      `call ${_id} has a recording of 20 s`,
      `custom payload for ticket T-${_id}`,
    ])
      expect(output).toContain(`${line}\n`);
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
