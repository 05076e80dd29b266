import { describe, expect, test } from '@jest/globals';
import { verify } from '@call-webhooks/core';
import { Webhook } from 'standardwebhooks';
import type { Received } from '../support/receiver.ts';
import { STARTED_AT, testResources } from '../support/test-resources.ts';

const open = testResources();

/** The same headers under the names that the independent verifier knows. */
const standard = ({ headers }: Received, prefix = 'x-service') => ({
  'webhook-id': String(headers[`${prefix}-webhook-id`]),
  'webhook-timestamp': String(headers[`${prefix}-timestamp`]),
  'webhook-signature': String(headers[`${prefix}-signature`]),
});

describe('a signed delivery', () => {
  test('is accepted by an independent verifier, every attempt with an id of its own', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver((_received, response, count) => {
      response.writeHead(count % 2 ? 500 : 200).end();
    });
    simulator.rules.forwardTo(receiver.url, { secret: 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=' });
    simulator.calls.place();
    await simulator.clock.runUntilIdle();
    expect(receiver.received.length).toBeGreaterThan(3);
    const verifier = new Webhook('whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=');
    for (const received of receiver.received)
      expect(verifier.verify(received.body, standard(received))).toEqual(JSON.parse(received.body));
    const ids = receiver.received.map(({ headers }) => headers['x-service-webhook-id']);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('carries the wall time, or the time of the clock where that is wanted', async () => {
    const wall = await open.simulator();
    const clock = await open.simulator({ timestamps: 'clock', headerPrefix: 'X-Acme' });
    const receiver = await open.receiver();
    for (const simulator of [wall, clock]) {
      simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
      simulator.calls.start();
      await simulator.deliveries.settled();
    }
    const [first, second] = receiver.received as [Received, Received];
    expect(
      Math.abs(Number(first.headers['x-service-timestamp']) * 1_000 - Date.now()),
    ).toBeLessThan(10_000);
    expect(Number(second.headers['x-acme-timestamp'])).toBe(STARTED_AT / 1_000);
    await verify(
      { headers: second.headers, body: Buffer.from(second.body) },
      { secret: clock.secrets.all(), headerPrefix: 'X-Acme', now: () => STARTED_AT },
    );
  });

  test('has no headers but those it needs', async () => {
    const simulator = await open.simulator({ extraHeaders: { 'X-Extra': 'yes' } });
    const receiver = await open.receiver();
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    simulator.calls.start();
    await simulator.deliveries.settled();
    expect(Object.keys(receiver.received[0]!.headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'x-extra',
      'x-service-signature',
      'x-service-timestamp',
      'x-service-webhook-id',
    ]);
  });
});

test('an old action without a secret is sent unsigned', async () => {
  const simulator = await open.simulator();
  const receiver = await open.receiver();
  const rule = simulator.rules.create({
    trigger: 'call:started',
    actions: [{ url: receiver.url, signed: false }],
  });
  simulator.calls.start();
  await simulator.deliveries.settled();
  expect(
    Object.keys(receiver.received[0]!.headers).filter((name) => name.startsWith('x-')),
  ).toEqual([]);
  expect(simulator.secrets.get(rule.actions[0]!._id)).toBeUndefined();
  expect(() => simulator.secrets.rotate(rule.actions[0]!._id)).toThrow('No signed action');
});

test('after a rotation the next delivery, a retry included, is signed with the new secret', async () => {
  const simulator = await open.simulator();
  const receiver = await open.receiver((_received, response, count) => {
    response.writeHead(count === 1 ? 503 : 200).end();
  });
  const rule = simulator.rules.create({
    trigger: 'call:started',
    actions: [{ url: receiver.url }],
  });
  const [action] = rule.actions;
  const old = simulator.secrets.get(action!._id)!.current;
  simulator.calls.start();
  await simulator.deliveries.settled();
  const fresh = simulator.secrets.rotate(action!._id);
  await simulator.clock.runUntilIdle();
  const [first, retry] = receiver.received as [Received, Received];
  expect(fresh).not.toBe(old);
  expect(new Webhook(old).verify(first.body, standard(first))).toBeTruthy();
  expect(new Webhook(fresh).verify(retry.body, standard(retry))).toBeTruthy();
  expect(() => new Webhook(old).verify(retry.body, standard(retry))).toThrow();
});
