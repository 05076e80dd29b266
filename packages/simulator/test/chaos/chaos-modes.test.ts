import { OutgoingMessage, type ServerResponse } from 'node:http';
import { describe, expect, jest, test } from '@jest/globals';
import type { ChaosMode, SimulatorOptions } from '@call-webhooks/simulator';
import { Webhook } from 'standardwebhooks';
import { plainReceiver, type Received, type Respond } from '../support/receiver.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

async function chaotic(
  mode: ChaosMode,
  respond: Respond | number = 200,
  options: SimulatorOptions = {},
) {
  const simulator = await open.simulator({ maxAttempts: 2, ...options });
  const receiver = await open.receiver(respond);
  const rule = simulator.rules.create({
    trigger: 'call:started',
    actions: [{ url: receiver.url }],
  });
  simulator.chaos.set({ [mode]: 1 });
  const [action] = rule.actions;
  return { simulator, receiver, rule, actionId: action!._id };
}

/** Why the independent verifier refuses what was received; `undefined` when it does not. */
function refusal({ headers, body }: Received, secret: string): string | undefined {
  try {
    new Webhook(secret).verify(body, {
      'webhook-id': String(headers['x-service-webhook-id']),
      'webhook-timestamp': String(headers['x-service-timestamp']),
      'webhook-signature': String(headers['x-service-signature']),
    });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test('wrongSecret and oldSecret at once: an attempt says the one that was done to it', async () => {
  const { simulator, receiver, actionId } = await chaotic('wrongSecret', 401);
  const old = simulator.secrets.all();
  simulator.secrets.rotate(actionId);
  simulator.chaos.set({ oldSecret: 1 });
  simulator.calls.start();
  await simulator.events.settled();
  const [event] = simulator.events.list();
  expect(event?.attempts[0]?.chaos).toEqual(['wrongSecret']);
  const [received] = receiver.received as [Received];
  for (const secret of [...old, ...simulator.secrets.all()])
    expect(refusal(received, secret)).toBeDefined();
});

describe('what is done to events', () => {
  test('duplicate: the same event comes again, a little later, with an id of its own', async () => {
    const { simulator, receiver } = await chaotic('duplicate');
    simulator.calls.start();
    await simulator.events.settled();
    expect(receiver.received).toHaveLength(1);
    await simulator.clock.runUntilIdle();
    const [first, second] = receiver.received as [Received, Received];
    expect(second.body).toBe(first.body);
    expect(second.headers['x-service-webhook-id']).not.toBe(first.headers['x-service-webhook-id']);
    const [original, copy] = simulator.events.list();
    expect(copy).toMatchObject({ copyOf: original!._id, copiedBy: 'duplicate' });
  });

  test('concurrentDuplicates: copies are under way at the same time', async () => {
    const inside: ServerResponse[] = [];
    // Nobody is answered before two are there.
    const { simulator, receiver } = await chaotic(
      'concurrentDuplicates',
      (_one, response, count) => {
        inside.push(response);
        if (count >= 2) for (const held of inside.splice(0)) held.end();
      },
    );
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(receiver.received.length).toBeGreaterThan(1);
    expect(simulator.events.list().every(({ attempts }) => attempts.length === 1)).toBe(true);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  test('reorder: later events overtake earlier ones', async () => {
    const { simulator, receiver } = await chaotic('reorder');
    const placed = Array.from({ length: 8 }, () => simulator.calls.start()._id);
    await simulator.clock.runUntilIdle();
    const arrived = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { callId: string }).callId,
    );
    expect(arrived).not.toEqual(placed);
    expect([...arrived].sort()).toEqual([...placed].sort());
  });
});

describe('what is done to attempts', () => {
  test('dropResponse: the receiver has done its work, and the service never hears of it', async () => {
    const { simulator, receiver } = await chaotic('dropResponse');
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(receiver.received).toHaveLength(2);
    expect(simulator.events.list()[0]).toMatchObject({
      state: 'acknowledged',
      attempts: [
        {
          chaos: ['dropResponse'],
          response: { kind: 'connection-error', code: 'ECONNRESET' },
          droppedResponse: { status: 200 },
        },
        { chaos: [], response: { status: 200 } },
      ],
    });
  });

  test('slowBody: the body comes in pieces', async () => {
    const simulator = await open.simulator({ slowBodyMs: 40, chaos: { slowBody: 1 } });
    const pieces: number[] = [];
    const receiver = open.add(await plainReceiver());
    receiver.server.prependListener('request', (request: NodeJS.ReadableStream) => {
      request.on('data', (chunk: Buffer) => pieces.push(chunk.length));
    });
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(pieces.length).toBeGreaterThan(2);
    expect(simulator.events.list()[0]!.state).toBe('acknowledged');
    expect(simulator.events.list()[0]!.attempts[0]!.tookMs).toBeGreaterThanOrEqual(30);
  });

  test('slowBody: the body is sent in eight parts', async () => {
    const { simulator } = await chaotic('slowBody', 200, { slowBodyMs: 8 });
    const write = jest.spyOn(OutgoingMessage.prototype, 'write');
    simulator.calls.start();
    await simulator.events.settled();
    const parts = write.mock.calls.map(([part]) => (part as Uint8Array).length);
    write.mockRestore();
    const [event] = simulator.events.list();
    expect(parts).toHaveLength(8);
    expect(parts.reduce((sum, size) => sum + size, 0)).toBe(Buffer.byteLength(event!.body));
  });

  test.each(['wrongSecret', 'tamperedBody'] as const)(
    '%s: the signature does not match',
    async (mode) => {
      const { simulator, receiver, actionId } = await chaotic(mode, (_one, response, count) => {
        response.writeHead(count === 1 ? 401 : 200).end();
      });
      simulator.calls.start();
      await simulator.clock.runUntilIdle();
      const secret = simulator.secrets.get(actionId)!.current;
      const [struck, clean] = receiver.received as [Received, Received];
      expect(refusal(struck, secret)).toBe('No matching signature found');
      expect(refusal(clean, secret)).toBeUndefined();
      expect(struck.body === clean.body).toBe(mode === 'wrongSecret');
      expect(() => void JSON.parse(struck.body)).not.toThrow();
    },
  );

  test('oldSecret: strikes once there is one', async () => {
    const { simulator, receiver, actionId } = await chaotic('oldSecret');
    const old = simulator.secrets.get(actionId)!.current;
    simulator.calls.start();
    await simulator.events.settled();
    expect(simulator.events.list()[0]!.attempts[0]!.chaos).toEqual([]);
    simulator.secrets.rotate(actionId);
    simulator.calls.start();
    await simulator.events.settled();
    expect(simulator.events.list()[1]!.attempts[0]!.chaos).toEqual(['oldSecret']);
    expect(refusal(receiver.received[1]!, old)).toBeUndefined();
  });

  test('clockSkew: the timestamp is out of tolerance, and signed', async () => {
    const { simulator, receiver, actionId } = await chaotic('clockSkew');
    simulator.calls.start();
    await simulator.events.settled();
    expect(refusal(receiver.received[0]!, simulator.secrets.get(actionId)!.current)).toMatch(
      /timestamp too (old|new)/,
    );
  });

  test('replay: a replay is no attempt, so that it takes none away', async () => {
    const { simulator } = await chaotic('replay', 500, { maxAttempts: 3 });
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    const [event] = simulator.events.list();
    expect(event!.attempts.map(({ kind, number }) => [kind, number])).toEqual(
      [1, 2, 3].flatMap((number) => [
        ['scheduled', number],
        ['replay', number],
      ]),
    );
    expect(simulator.rules.list()).toMatchObject([{ pauseReason: 'last-attempt-failed' }]);
  });

  test('replay: a captured request comes again, byte for byte, and its answer changes nothing', async () => {
    const { simulator, receiver, rule } = await chaotic('replay', (_one, response, count) => {
      response.writeHead(count === 1 ? 200 : 404).end();
    });
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    const [first, second] = receiver.received as [Received, Received];
    expect(second).toEqual(first);
    expect(simulator.events.list()[0]).toMatchObject({
      state: 'acknowledged',
      attempts: [{ kind: 'scheduled' }, { kind: 'replay', response: { status: 404 } }],
    });
    expect(simulator.rules.get(rule._id).state).toBe('active');
  });
});

test('the last attempt is left in peace', async () => {
  const { simulator, receiver } = await chaotic('wrongSecret', 200, { maxAttempts: 1 });
  simulator.calls.start();
  await simulator.clock.runUntilIdle();
  expect(receiver.received).toHaveLength(1);
  expect(simulator.events.list()[0]!.attempts[0]!.chaos).toEqual([]);
});

test('odd settings are refused', async () => {
  const { chaos } = await open.simulator();
  expect(() => chaos.set({ earthquake: 1 } as never)).toThrow('no field "earthquake"');
  expect(() => chaos.set({ replay: 1.5 })).toThrow('replay must be a number from 0 to 1');
  expect(() => chaos.set({ replay: '1' as never })).toThrow('replay must be a number from 0 to 1');
  chaos.setAll(0.5);
  expect(Object.values(chaos.clear())).toEqual(Array.from({ length: 10 }, () => 0));
});
