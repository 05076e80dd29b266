import { afterEach, expect, test } from '@jest/globals';
import { serveLocally } from '@call-webhooks/contract-tests';
import type { HandlerContext, Outcome, ReceiverOptions } from '@call-webhooks/core';
import { createWebHandler } from '@call-webhooks/core/web';
import { callWebhooks } from '@call-webhooks/express';
import fastifyPlugin from '@call-webhooks/fastify';
import { CHAOS_MODES, startSimulator, type WebhookEvent } from '@call-webhooks/simulator';
import express from 'express';
import fastify from 'fastify';
import { z } from 'zod';
import { routeHandlerServer } from '../../../next/test/route-handler-server.ts';

/** To try another run: SEED=… npm run test:integration -- scenario */
const SEED = process.env['SEED'] ?? '1';
const CALLS = 75;

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** The three kinds of adapters: of Node, of a framework with its own body, and of `fetch`. */
const ADAPTERS: [name: string, mount: (options: ReceiverOptions) => Promise<string>][] = [
  [
    'Express',
    async (options) => {
      const handler = callWebhooks(options);
      const { origin, close } = await serveLocally(express().all('/hook', handler));
      open.push({ close }, handler.receiver);
      return `${origin}/hook`;
    },
  ],
  [
    'Fastify',
    async (options) => {
      const app = fastify();
      open.push(app);
      app.register(fastifyPlugin({ path: '/hook', ...options }));
      return `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`;
    },
  ],
  [
    'a web handler',
    async (options) => {
      const handler = createWebHandler(options);
      const { origin, close } = await routeHandlerServer(handler);
      open.push({ close }, handler.receiver);
      return `${origin}/hook`;
    },
  ],
];

/** Whether the handler fails at its first attempt: about one event in eight, depending on the key. */
const isFlaky = (key: string) => Buffer.from(key).reduce((sum, byte) => sum + byte, 0) % 8 === 0;

/** Handlers whose effects can be compared with what was sent. */
function effects() {
  const done = new Map<string, string>();
  const attempts = new Map<string, number>();
  const outcomes: Outcome[] = [];
  const acknowledgedTooEarly: Outcome[] = [];

  function run(_event: unknown, { key = '', rawBody }: HandlerContext): void {
    attempts.set(key, (attempts.get(key) ?? 0) + 1);
    if (isFlaky(key) && attempts.get(key) === 1) throw new Error('the CRM is down');
    done.set(key, Buffer.from(rawBody).toString());
  }

  const options = {
    on: { 'call:started': run, 'call:completed': run, 'call:recording-available': run },
    custom: {
      schema: z.object({ ticket: z.string() }),
      key: (payload: unknown) => (payload as { ticket: string }).ticket,
      handle: run,
    },
    logger: { warn: () => undefined, error: () => undefined },
    onOutcome(outcome: Outcome) {
      outcomes.push(outcome);
      if (outcome.status < 300 && !done.has(outcome.key ?? '')) acknowledgedTooEarly.push(outcome);
    },
  } satisfies Partial<ReceiverOptions>;

  return { options, done, outcomes, acknowledgedTooEarly };
}

/** The event key that a receiver uses for an event. */
function keyOf({ body, callId, eventName }: WebhookEvent): string {
  const { eventId, ticket } = JSON.parse(body) as { eventId?: string; ticket?: string };
  const custom = ticket === undefined ? undefined : `custom:${ticket}`;
  return custom ?? eventId ?? `${callId}:${eventName}`;
}

test.each(ADAPTERS)(
  `%s, every chaos mode at once, seed ${SEED}: every effect happens, no rule is paused`,
  async (_name, mount) => {
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
    const url = await mount({ secret: () => simulator.secrets.all(), ...options });

    simulator.rules.forwardTo(url);
    simulator.rules.create({
      trigger: 'call:completed',
      actions: [{ url, payload: { ticket: 'T-{{callId}}', who: '{{calledName}}' } }],
    });
    // Gives chaos old secrets to sign deliveries with.
    for (const { actions } of simulator.rules.list()) simulator.secrets.rotate(actions[0]!._id);
    simulator.chaos.setAll(0.15);
    for (let placed = 0; placed < CALLS; placed++) simulator.calls.place();
    await simulator.clock.runUntilIdle();

    const events = simulator.events.list();
    const sent = new Map(events.map((event) => [keyOf(event), event.body]));
    expect(sent.size).toBe(4 * CALLS);
    expect(done).toEqual(sent);
    expect(acknowledgedTooEarly).toEqual([]);
    expect(simulator.outbox.list()).toEqual([]);

    expect(simulator.events.counts()).toEqual({ acknowledged: events.length });
    expect(simulator.rules.list().map(({ state }) => state)).toEqual(Array(4).fill('active'));

    const struck = events.flatMap(({ attempts, copiedBy }) => [
      ...attempts.flatMap(({ chaos }) => chaos),
      ...(copiedBy ? [copiedBy] : []),
    ]);
    // A reordered event is not marked, it is only late.
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
