import { deadLetter } from '@call-webhooks/contract-tests';
import { counterName } from '@call-webhooks/core/stores';
import { startSimulator } from '@call-webhooks/simulator';
import { closing, setup } from './dead-letters.ts';
import { SECRET } from './receiver.ts';
import { run } from './run.ts';

export const MINUTE = 60_000;
export const COMPLETED = 'call:completed';
export const AVAILABLE = 'call:recording-available';

export const IN_LETTERS =
  'To run the events in the dead letters: npx call-webhooks dead-letters redrive\n';
export const warning = (why: string) =>
  `warning: This run is not recorded, so status may still ask for it: ${why}\n`;
/**
 * The service has four calls, five minutes apart and the newest first: one whose event fails, one with a recording,
 * one whose event is in the dead letters, and one whose event was handled.
 */
export async function service(tenant?: string) {
  const failing = new Set<string>();
  const made = await setup({
    ...(tenant !== undefined && { tenant: () => tenant, secret: () => SECRET }),
    on: {
      [COMPLETED]: (event: unknown) => {
        const { callId } = event as { callId: string };
        if (failing.has(callId)) throw new Error('the CRM is down');
      },
    },
  });
  const { store, file, url } = made;
  const now = Date.now();
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: now - 80 * MINUTE },
  });
  closing.push(() => simulator.close());
  const placed: string[] = [];
  for (const recorded of [false, false, true, false]) {
    placed.push(simulator.calls.place({ durationSeconds: 20, recorded })._id);
    await simulator.clock.advance('5m');
  }
  const [known = '', dead = '', missed = '', bad = ''] = placed;
  for (const [callId, mark] of [
    [known, undefined],
    [dead, 'dead-lettered'],
  ] as const) {
    const owner = tenant === undefined ? '' : `tenant:${tenant}:`;
    const [key, token] = [`${owner}${callId}:${COMPLETED}`, `token of ${callId}`];
    await store.admit({ key, token, webhookId: token, replayUntil: now, leaseMs: MINUTE });
    await store.complete(key, token, mark);
    if (mark)
      await made.deadLetters.put(deadLetter({ key, ...(tenant !== undefined && { tenant }) }));
  }
  failing.add(bad);
  const env = {
    ...{ CALL_WEBHOOK_SECRET: SECRET, CALL_WEBHOOKS_BASE_URL: simulator.url },
    CALL_WEBHOOKS_API_TOKEN: simulator.apiToken,
  };
  const [since, until] = [new Date(now - 180 * MINUTE), new Date(now - 20 * MINUTE)];
  const window = ['--since', since.toISOString(), '--until', until.toISOString()];
  const reconcile = (...argv: string[]) =>
    run(['reconcile', '--concurrency', '1', ...argv], { env, columns: 300 });
  /** The log has a delivery of a receiver. */
  const isLogged = () =>
    store.log?.append({
      ...{ id: 'batch', rows: [], failures: [], counts: {} },
      marks: { [counterName('ack', tenant ?? '', COMPLETED, 's')]: now },
      process: { id: 'p', host: 'h', pid: 1, startedAt: now, at: now, inFlight: 0 },
    });
  const covered = async () =>
    JSON.parse((await store.loadCursor?.('call-webhooks.covered')) ?? 'null') as unknown;
  return {
    ...{ ...made, now, since, until, window, reconcile, isLogged, covered },
    ...{ known, dead, missed, bad, failing, env },
    ...{ at: ['--store', `sqlite:${file}`], to: ['--to', url] },
  };
}
