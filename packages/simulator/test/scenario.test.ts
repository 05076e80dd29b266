import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { createNodeHandler, type NodeHandler } from '@call-webhooks/core/node';
import type { Outcome } from '@call-webhooks/core';
import { Draws } from '../src/seed/draws.ts';
import { tidy } from './support/tidy.ts';

const open = tidy();
const CALLS = 200;
const quiet = { warn: () => undefined, error: () => undefined };

async function listen(handler: NodeHandler): Promise<string> {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.add({
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await handler.receiver.close();
    },
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
}

test('with every chaos mode at once, no event is lost and no rule is paused', async () => {
  const simulator = await open.simulator({ maxAttempts: 12, slowBodyMs: 8, maxInFlight: 32 });
  const draws = new Draws('handlers that fail');
  const effects = new Map<string, string>();
  const ran = new Map<string, number>();
  const outcomes: Outcome[] = [];

  const effect = (_event: unknown, context: { key: string | undefined; rawBody: Uint8Array }) => {
    const key = context.key!;
    ran.set(key, (ran.get(key) ?? 0) + 1);
    if (ran.get(key) === 1 && draws.chance(0.1, key)) throw new Error('the CRM is down');
    effects.set(key, Buffer.from(context.rawBody).toString());
  };
  const handler = createNodeHandler({
    secret: () => simulator.secrets.all(),
    on: {
      'call:started': effect,
      'call:completed': effect,
      'call:recording-available': effect,
    },
    logger: quiet,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  const rules = simulator.rules.forwardTo(await listen(handler));
  // So that there are old secrets that deliveries can be signed with.
  for (const { actions } of rules) simulator.secrets.rotate(actions[0]!._id);

  simulator.chaos.setAll(0.15);
  for (let placed = 0; placed < CALLS; placed++) simulator.calls.place();
  await simulator.clock.runUntilIdle();

  const deliveries = simulator.deliveries.list();
  const sent = new Map(
    deliveries.map(({ callId, eventName, body }) => {
      const eventId = eventName === 'call:recording-available' && `${callId}:recording-available`;
      return [eventId || `${callId}:${eventName}`, body];
    }),
  );
  expect(sent.size).toBe(3 * CALLS);
  expect(effects).toEqual(sent);
  expect(simulator.deliveries.counts()).toEqual({ acknowledged: deliveries.length });
  expect(simulator.rules.list().map(({ state }) => state)).toEqual(['active', 'active', 'active']);
  expect(simulator.outbox.list()).toEqual([]);

  const struck = new Set(deliveries.flatMap(({ attempts }) => attempts.flatMap((a) => a.chaos)));
  const copied = new Set(deliveries.map(({ copiedBy }) => copiedBy).filter(Boolean));
  expect([...struck, ...copied].sort()).toEqual(
    Object.keys(simulator.chaos.get())
      .filter((mode) => mode !== 'reorder')
      .sort(),
  );
  const codes = new Set(outcomes.map(({ outcome }) => outcome));
  for (const code of ['handled', 'duplicate', 'replayed', 'signature-mismatch', 'handler-failed'])
    expect(codes).toContain(code);
}, 30_000);
