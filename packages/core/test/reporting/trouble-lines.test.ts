import { describe, expect, it } from '@jest/globals';
import { createReceiver, generateSecret, memoryStore, type Store } from '../../src/index.ts';
import { delivery, Lines, NOW, SECRET, STARTED } from '../support.ts';

describe('the line of a delivery that no secret verifies', () => {
  it.each([
    ['fixed', (secrets: unknown) => secrets],
    ['provided', (secrets: unknown) => () => secrets],
  ])('says when each of the %s secrets verified a delivery last', async (_name, asOption) => {
    const logger = new Lines();
    let now = NOW;
    const old = generateSecret();
    const secret = asOption([
      { id: 'crm', secret: SECRET },
      { id: 'recording', secret: old },
      { id: 'unused', secret: generateSecret() },
    ]) as string;
    const { receive } = createReceiver({
      secret,
      logger,
      now: () => now,
      on: { 'call:started': () => undefined },
    });
    const send = async (signer: string) =>
      receive(await delivery(STARTED, { secret: signer, timestamp: now / 1000 }));
    await send(old);
    now += 26 * 3_600_000;
    await send(SECRET);
    now += 180_000;
    await send(generateSecret());
    expect(logger.entries.map(({ message }) => message)).toEqual([
      expect.stringContaining(
        'Last verified delivery: crm 3 min ago, recording 26 h ago, unused none since the start.',
      ),
    ]);
  });
});

it('of more than 100 secrets, the line knows those that verified a delivery last', async () => {
  const logger = new Lines();
  const secrets = Array.from({ length: 101 }, (_, at) => ({
    ...{ id: `action-${String(at)}`, secret: generateSecret() },
  }));
  const on = { 'call:started': () => undefined };
  const { receive } = createReceiver({ secret: secrets, logger, now: () => NOW, on });
  const first = secrets[0]!.secret;
  for (const secret of [first, ...secrets.map((one) => one.secret), first])
    await receive(await delivery(STARTED, { secret }));
  await receive(await delivery(STARTED, { secret: generateSecret() }));
  const told = logger.entries.map(({ message }) =>
    message.match(/action-\d+ none since the start/g),
  );
  expect(told).toEqual([['action-1 none since the start']]);
});

it.each([
  [0, '0 s'],
  [89_400, '89 s'],
  [89_500, '2 min'],
  [89 * 60_000 + 29_000, '89 min'],
  [89 * 60_000 + 30_000, '2 h'],
  [26 * 3_600_000, '26 h'],
])('%d ms after the last verified delivery, the line says %s', async (ms, age) => {
  const logger = new Lines();
  let now = NOW;
  const on = { 'call:started': () => undefined };
  const { receive } = createReceiver({ secret: SECRET, logger, now: () => now, on });
  const send = async (secret: string) =>
    receive(await delivery(STARTED, { secret, timestamp: Math.floor(now / 1000) }));
  await send(SECRET);
  now += ms;
  await send(generateSecret());
  expect(logger.entries[0]?.message).toMatch(
    new RegExp(`Last verified delivery: \\S+ ${age} ago\\.`),
  );
});

describe('the line of a store that fails', () => {
  /** As a client throws it, below frames of ours. */
  const failure = () => {
    const error = new Error('connect ECONNREFUSED 10.0.0.1:6379');
    error.stack = [
      `Error: ${error.message}`,
      '    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)',
      ...Array.from({ length: 12 }, () => '    at processTicks (node:internal/process/task:95:5)'),
      '    at Client.send (/app/src/client.js:3:9)',
      '    at StoreCalls.admit (file:///app/node_modules/@call-webhooks/core/dist/esm/x.js:1:2)',
      '    at async run (/app/node_modules/.pnpm/c/node_modules/@call-webhooks/redis/y.cjs:3:4)',
      '    at async listOnTimeout (node:internal/timers:581:17)',
      ...Array.from(
        { length: 12 },
        (_, at) => `    at step${String(at)} (/app/src/steps.js:${String(at + 1)}:1)`,
      ),
    ].join('\n');
    return error;
  };

  it.each([
    ['at AsyncResource.runInAsyncScope (node:async_hooks:211:14)'],
    ['at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)', 'at node:net:1:2'],
    ['at async node:internal/timers:581:17', 'at new Promise (<anonymous>)', 'at map (native)'],
  ])('has no frames if none says where to look: %s', async (...frames) => {
    const error = new Error('connect ECONNREFUSED 10.0.0.1:6379');
    const at = frames.map((frame) => `    ${frame}`).join('\n');
    error.stack = `Error: ${error.message}\n${at}`;
    const logger = new Lines();
    const store: Store = { ...memoryStore(), name: 'Redis', admit: () => Promise.reject(error) };
    const on = { 'call:started': () => undefined };
    const { receive } = createReceiver({ secret: SECRET, store, logger, now: () => NOW, on });
    await receive(await delivery(STARTED));
    const line = logger.entries.find(({ fields }) => fields['outcome'] === 'store-unavailable');
    expect((line?.fields['err'] as Error).stack).toBe('Error: connect ECONNREFUSED 10.0.0.1:6379');
  });

  it('names the store, is written once in 10 s, and has no frames of this library', async () => {
    const logger = new Lines();
    const store: Store = {
      ...memoryStore(),
      name: 'Redis',
      admit: () => Promise.reject(failure()),
    };
    const { receive } = createReceiver({
      ...{ secret: SECRET, store, logger, now: () => NOW },
      on: { 'call:started': () => undefined },
    });
    for (let sent = 0; sent < 5; sent++) await receive(await delivery(STARTED));
    const [line, ...others] = logger.entries.filter(
      ({ fields }) => fields['outcome'] === 'store-unavailable',
    );
    expect(others).toEqual([]);
    expect(line?.message).toBe(
      'call-webhooks: 503 store-unavailable: The store (Redis) failed: Error: connect ECONNREFUSED 10.0.0.1:6379',
    );
    const { stack } = line?.fields['err'] as Error;
    expect(stack?.split('\n').slice(1)).toEqual([
      '    at Client.send (/app/src/client.js:3:9)',
      // Ten in all, of the many that may be the user's.
      ...Array.from(
        { length: 9 },
        (_, at) => `    at step${String(at)} (/app/src/steps.js:${String(at + 1)}:1)`,
      ),
    ]);
  });
});

describe('a handler that finishes after its deadline', () => {
  it('is reported, since its retry will be a duplicate', async () => {
    const logger = new Lines();
    let finish: (() => void) | undefined;
    const { receive, close } = createReceiver({
      ...{ secret: SECRET, ackWithin: 20, logger, now: () => NOW },
      on: { 'call:started': () => new Promise<void>((resolve) => (finish = resolve)) },
    });
    expect((await receive(await delivery(STARTED))).outcome.outcome).toBe('deadline');
    finish?.();
    await close();
    const [first, second] = logger.entries;
    expect(first).toMatchObject({ level: 'error', fields: { outcome: 'deadline' } });
    expect(second).toMatchObject({
      level: 'warn',
      fields: { outcome: 'handled', late: true, callId: 'call-1', eventName: 'call:started' },
    });
    expect(second?.message).toMatch(
      /^call-webhooks: the handler finished after its deadline: it took [\d.]+ s\. The event is done, and the service's retry will be a duplicate\.$/,
    );
    expect(second?.fields['docs']).toMatch(/outcomes\.html#deadline$/);
  });
});
