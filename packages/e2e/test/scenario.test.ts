import { afterAll, afterEach, expect, test } from '@jest/globals';
import { CHAOS_MODES, startSimulator, type Delivery } from '@call-webhooks/simulator';
import { createPageCounter } from '../src/page-counts.ts';
import { ADAPTERS } from './adapters.ts';
import { effects } from './effects.ts';

/** To try another run: SEED=… npm run test:integration -- packages/e2e */
const SEED = process.env['SEED'] ?? '1';
const CALLS = 75;

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
const pages = createPageCounter();
afterAll(() => pages.close());

/** The event key that a receiver uses for a delivery. */
function keyOf({ body, callId, eventName }: Delivery): string {
  const { eventId, ticket } = JSON.parse(body) as { eventId?: string; ticket?: string };
  const custom = ticket === undefined ? undefined : `custom:${ticket}`;
  return custom ?? eventId ?? `${callId}:${eventName}`;
}

test.each(ADAPTERS)(
  `$name, every chaos mode at once, seed ${SEED}: every effect happens, no rule is paused`,
  async ({ mount }) => {
    const simulator = await startSimulator({
      clock: 'manual',
      seed: SEED,
      maxAttempts: 12,
      slowBodyMs: 4,
      maxInFlight: 32,
      patience: 10_000,
    });
    open.push(simulator);
    const { options, done, outcomes, acknowledgedTooEarly } = effects();
    const receiver = await mount({ secret: () => simulator.secrets.all(), ...options });
    open.push(receiver);

    simulator.rules.forwardTo(receiver.url);
    simulator.rules.create({
      trigger: 'call:completed',
      actions: [{ url: receiver.url, payload: { ticket: 'T-{{callId}}', who: '{{calledName}}' } }],
    });
    // Gives chaos old secrets to sign deliveries with.
    for (const { actions } of simulator.rules.list()) simulator.secrets.rotate(actions[0]!._id);
    simulator.chaos.setAll(0.15);
    for (let placed = 0; placed < CALLS; placed++) simulator.calls.place();
    await simulator.clock.runUntilIdle();

    const deliveries = simulator.deliveries.list();
    const sent = new Map(deliveries.map((delivery) => [keyOf(delivery), delivery.body]));
    expect(sent.size).toBe(4 * CALLS);
    expect(done).toEqual(sent);
    expect(acknowledgedTooEarly).toEqual([]);
    expect(simulator.outbox.list()).toEqual([]);

    const { counts, rules } = (await (await fetch(`${simulator.url}/_sim/state`)).json()) as {
      counts: unknown;
      rules: { state: string }[];
    };
    const acknowledged = deliveries.length;
    expect(counts).toMatchObject({ calls: CALLS, mails: 0, deliveries: { acknowledged } });
    expect(rules.map(({ state }) => state)).toEqual(Array(4).fill('active'));
    const shown = await pages.counts(simulator.url);
    if (shown)
      expect(shown).toMatchObject({ all: acknowledged, acknowledged, failed: 0, waiting: 0 });

    const struck = deliveries.flatMap(({ attempts, copiedBy }) => [
      ...attempts.flatMap(({ chaos }) => chaos),
      ...(copiedBy ? [copiedBy] : []),
    ]);
    // A reordered delivery is not marked, it is only late.
    expect(new Set([...struck, 'reorder'])).toEqual(new Set(CHAOS_MODES));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(
      expect.arrayContaining([
        'handled',
        'duplicate',
        'replayed',
        'signature-mismatch',
        'timestamp-out-of-tolerance',
        'handler-failed',
      ]),
    );
  },
  120_000,
);
