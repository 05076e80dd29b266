import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';
import { SECRET } from './receiver.ts';

/** What a test opened. */
export const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A running receiver in another process. */
export async function receiverProcess(file: string) {
  const path = fileURLToPath(new URL('./receiver-process.ts', import.meta.url));
  const child = fork(path, [file, SECRET], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
  });
  const runs: string[] = [];
  child.on('message', (said: { kind: string; callId?: string }) => {
    if (said.kind === 'run') runs.push(said.callId ?? '');
  });
  const [ready] = (await once(child, 'message')) as [{ port: number }];
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  closing.push(stop);
  return {
    url: `http://127.0.0.1:${String(ready.port)}/hook`,
    runs,
    stop,
    async breakFor(broken: string[]) {
      child.send({ broken });
      await once(child, 'message');
    },
  };
}

/** The service, ten hours ago, and a receiver for which its rule is paused after a few calls. */
export async function setup({ handled = 0, missed = 0 }) {
  const folder = mkdtempSync(join(tmpdir(), 'cli-reconcile-'));
  closing.push(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'calls.db');
  const receiver = await receiverProcess(file);
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: Date.now() - 10 * 3_600_000, patience: 10_000 },
    pageSize: 10,
  });
  closing.push(() => simulator.close());
  const rule = simulator.rules.create({
    ...{ trigger: 'call:completed', scope: 'workspace' },
    actions: [{ url: receiver.url, secret: SECRET }],
  });
  const place = async (count: number) => {
    const ids: string[] = [];
    for (let made = 0; made < count; made++)
      ids.push(simulator.calls.place({ durationSeconds: 20, recorded: false })._id);
    await simulator.clock.advance('2m');
    await simulator.events.settled();
    return ids;
  };
  const before = await place(handled);
  simulator.rules.pause(rule._id);
  const after = await place(missed);
  const env = {
    CALL_WEBHOOKS_BASE_URL: simulator.url,
    CALL_WEBHOOKS_API_TOKEN: simulator.apiToken,
    CALL_WEBHOOK_SECRET: SECRET,
  };
  const reconcile = ['reconcile', '--since', '12h'];
  return { receiver, simulator, rule, before, after, env, file, reconcile };
}
