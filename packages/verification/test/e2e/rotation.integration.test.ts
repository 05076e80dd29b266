import { afterEach, expect, jest, test } from '@jest/globals';
import {
  createClient,
  secretsFrom,
  type Rules,
  type SecretStore,
  type StoredSecret,
} from '@call-webhooks/client';
import type { Outcome, SecretProvider } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import type { Simulator, SimulatorOptions } from '@call-webhooks/simulator';
import { serveLocally } from '@call-webhooks/contract-tests';
import { STARTED_AT, testResources } from './test-resources.ts';

const open = testResources();
afterEach(() => {
  jest.restoreAllMocks();
});

const ROTATIONS = 20;

interface Running {
  readonly simulator: Simulator;
  readonly rules: Rules;
  readonly ids: { readonly ruleId: string; readonly actionId: string };
  /** The first secret. */
  readonly secret: string;
  readonly outcomes: Outcome[];
  readonly effects: Set<string>;
}

/** A store in memory whose save takes a few turns of the event loop, like a real one. */
function memory(): SecretStore {
  let stored: readonly StoredSecret[] = [];
  return {
    load: async () => stored,
    async save(secrets) {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      stored = secrets;
    },
  };
}

/** A simulator with one rule, a receiver for it, and a client. */
async function start(options: SimulatorOptions, secret: SecretProvider): Promise<Running> {
  const simulator = await open.simulator({ patience: 5_000, ...options });
  const outcomes: Outcome[] = [];
  const effects = new Set<string>();
  const handler = createNodeHandler({
    secret,
    on: { 'call:completed': (event) => void effects.add(event.callId ?? '') },
    logger: { warn: () => undefined, error: () => undefined },
    onOutcome: (outcome) => void outcomes.push(outcome),
  });
  const server = await serveLocally((request, response) => void handler(request, response));
  open.add({
    close: async () => {
      await handler.receiver.close();
      await server.close();
    },
  });
  const rule = simulator.rules.create({ trigger: 'call:completed' });
  const client = createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken });
  const added = await client.rules.addWebhook(rule._id, { url: `${server.origin}/hook` });
  const actionId = simulator.rules.get(rule._id).actions[0]!._id;
  const ids = { ruleId: rule._id, actionId };
  return { simulator, rules: client.rules, ids, secret: added.secret, outcomes, effects };
}

/**
 * Makes the simulator's clock the receiver's monotonic clock as well, so that the receiver's time
 * limits (when to ask a secret provider again) follow the fake clock.
 */
function shareTime(simulator: Simulator): void {
  const base = performance.now();
  const passed = () => base + simulator.clock.now() - STARTED_AT;
  jest.spyOn(performance, 'now').mockImplementation(passed);
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** Places calls that end one after another in the next seconds, around the rotation. */
function placeCalls(simulator: Simulator, durations: readonly number[]): void {
  for (const durationSeconds of durations)
    simulator.calls.place({ recorded: false, durationSeconds });
}

test('twenty rotations under continuous deliveries lose no event and pause no rule', async () => {
  const store = memory();
  const { simulator, rules, ids, secret, outcomes, effects } = await start({}, secretsFrom(store));
  shareTime(simulator);
  await store.save([{ id: 'first', secret, actionId: ids.actionId }]);
  for (let rotation = 0; rotation < ROTATIONS; rotation++) {
    placeCalls(simulator, [1, 1, 2, 3, 5]);
    // Deliveries are sent before, during and after the rotation.
    const turning = simulator.clock.advance('6s');
    await rules.rotateInto(store, ids);
    await turning;
  }
  await simulator.clock.runUntilIdle();

  const events = simulator.events.list();
  expect(simulator.secrets.get(ids.actionId)?.rotations).toBe(ROTATIONS);
  expect(events).toHaveLength(ROTATIONS * 5);
  expect(effects).toEqual(new Set(events.map(({ callId }) => callId)));
  expect(simulator.events.counts()).toEqual({ acknowledged: events.length });
  expect(simulator.rules.list().map(({ state }) => state)).toEqual(['active']);
  expect(simulator.outbox.list()).toEqual([]);
  // None was refused even once, and many of the secrets were used.
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['handled']));
  const used = new Set(outcomes.map(({ secretId }) => secretId));
  expect(used.size).toBeGreaterThan(ROTATIONS / 2);
});

test.each([
  ['is accepted, because the old secret stays live', undefined, 'handled'],
  ['is refused when there is no overlap', 0, 'signature-mismatch'],
])('a delivery that is in flight while the secret changes %s', async (_, overlap, outcome) => {
  const store = memory();
  const { simulator, rules, ids, secret, outcomes } = await start(
    { clock: 'real', slowBodyMs: 400 },
    secretsFrom(store),
  );
  await store.save([{ id: 'first', secret, actionId: ids.actionId }]);
  simulator.chaos.set({ slowBody: 1 });
  const slow = simulator.calls.place({ recorded: false, durationSeconds: 0 });
  await waitFor(() => simulator.events.list()[0]?.attempts.length === 1);
  simulator.chaos.set({ slowBody: 0 });
  await rules.rotateInto(store, { ...ids, overlap });
  const quick = simulator.calls.place({ recorded: false, durationSeconds: 0 });
  await waitFor(() => outcomes.length === 2);
  expect(outcomes.map((one) => [one.callId, one.outcome])).toEqual([
    [quick._id, 'handled'],
    [outcome === 'handled' ? slow._id : undefined, outcome],
  ]);
});
