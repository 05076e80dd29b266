import { describe, expect, it, jest } from '@jest/globals';
import { anyCharacter } from '@call-webhooks/store-tests/internal';
import fc from 'fast-check';
import { z } from 'zod';
import {
  type ErrorInfo,
  type HandlerContext,
  memoryDeadLetters,
  memoryStore,
  type QueuedDelivery,
  type SecretProvider,
  type Store,
} from '../../src/index.ts';
import { isTenantName, tenantKey } from '../../src/store/keys.ts';
import { type Claim, deadLetterId } from '../../src/stores.ts';
import { useLateClock } from '../late-clock.ts';
import { EVENT, names, tenants } from '../signature/tenants.ts';
import {
  bytes,
  createTestReceiver,
  deferred,
  OTHER_SECRET,
  RECORDING,
  runs,
  SECRET,
  SEED,
  STARTED,
} from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const secret: SecretProvider = ({ tenant }) => (tenant === 'nobody' ? undefined : secretOf(tenant));
const on = { 'call:started': () => undefined };

/** A store that keeps the claims it was asked for. */
function recording(): { store: Store; claims: Claim[] } {
  const inner = memoryStore();
  const claims: Claim[] = [];
  const admit: Store['admit'] = (claim) => {
    claims.push(claim);
    return inner.admit(claim);
  };
  return { store: { ...inner, admit }, claims };
}

describe('a receiver with tenants', () => {
  it('lets each of 1,000 tenants in with its own secret, and nobody into another one', async () => {
    const provider = jest.fn<SecretProvider>(secret);
    const seen = new Set<string>();
    const store = memoryStore();
    const { send } = createTenantsReceiver({
      secret: provider,
      store,
      on: { 'call:started': (_event, { tenant = '' }) => void seen.add(tenant) },
    });
    const names = Array.from({ length: 1_000 }, (_, index) => `tenant-${String(index)}`);
    const sendAll = async (all: string[]) => {
      const outcomes = new Set<string>();
      for (let at = 0; at < all.length; at += 200)
        for (const outcome of await Promise.all(
          all.slice(at, at + 200).map((name) => send(name, STARTED)),
        ))
          outcomes.add(outcome);
      return outcomes;
    };
    expect(await sendAll(names)).toEqual(new Set(['handled'])); // equal call ids of all of them
    expect(seen.size).toBe(1_000);
    expect(provider).toHaveBeenCalledTimes(1_000);

    const neighbours = names
      .slice(0, 50)
      .map((name, index) => send(name, STARTED, { secret: secretOf(names[index + 1] as string) }));
    expect(new Set(await Promise.all(neighbours))).toEqual(new Set(['signature-mismatch']));
    // All of them are still known.
    expect(await sendAll(names)).toEqual(new Set(['duplicate']));
    expect(provider.mock.calls.length).toBeLessThanOrEqual(1_050);
  });

  it('handles equal calls and webhook ids of two tenants, and only their own duplicates', async () => {
    const { send } = createTenantsReceiver({ secret, on });
    expect(await send('a', STARTED, { webhookId: 'same' })).toBe('handled');
    expect(await send('b', STARTED, { webhookId: 'same' })).toBe('handled');
    expect(await send('a', STARTED, { webhookId: 'same' })).toBe('replayed');
    expect(await send('a', STARTED)).toBe('duplicate');
    expect(await send('b', STARTED)).toBe('duplicate');
    const withoutKey = { eventName: 'call:teleported' };
    expect(await send('a', withoutKey, { webhookId: 'other' })).toBe('ignored');
    expect(await send('b', withoutKey, { webhookId: 'other' })).toBe('ignored');
    expect(await send('a', withoutKey, { webhookId: 'other' })).toBe('replayed');
  });

  it('has the tenant in all that the store is asked', async () => {
    const { store, claims } = recording();
    const { send } = createTenantsReceiver({ secret, on, store, oneAtATime: true });
    await send('a:b', STARTED, { webhookId: 'id' });
    expect(claims).toMatchObject([
      {
        webhookId: 'tenant:a%3Ab:id',
        key: 'tenant:a%3Ab:call-1:call:started',
        group: 'tenant:a%3Ab:call-1',
      },
    ]);
  });

  it('has a key of its own for an event that is known by its webhook id', async () => {
    const { store, claims } = recording();
    const options = { secret, store, oneAtATime: () => 'all', on: { 'call:started': () => 1 } };
    const { send } = createTenantsReceiver(options);
    await send('a', { eventName: 'call:started' }, { webhookId: 'id' });
    expect(claims).toMatchObject([{ key: 'tenant:a:webhook-id:id', group: 'tenant:a:all' }]);
  });

  it('lets one event of a group run at a time, of each tenant', async () => {
    const isEntered = deferred();
    const isFree = deferred();
    const { send } = createTenantsReceiver({
      secret,
      oneAtATime: true,
      on: {
        'call:started': async (_event, { tenant }) => {
          if (tenant !== 'a') return;
          isEntered.resolve();
          await isFree.promise;
        },
      },
    });
    const first = send('a', STARTED);
    await isEntered.promise;
    expect(await send('b', STARTED)).toBe('handled');
    isFree.resolve();
    expect(await first).toBe('handled');
  });

  it('names the tenant to the handler, in outcomes, log lines and to onError', async () => {
    const contexts: HandlerContext[] = [];
    const infos: ErrorInfo[] = [];
    const { send, outcomes, logger } = createTenantsReceiver({
      secret,
      on: {
        'call:started': (_event, context) => {
          contexts.push({ ...context });
          throw new Error('down');
        },
      },
      onError: (_error, info) => infos.push(info),
    });
    expect(await send('acme', STARTED)).toBe('handler-failed');
    expect(contexts).toMatchObject([{ tenant: 'acme', key: 'tenant:acme:call-1:call:started' }]);
    expect(outcomes).toMatchObject([{ tenant: 'acme', key: 'tenant:acme:call-1:call:started' }]);
    expect(logger.entries).toMatchObject([{ fields: { tenant: 'acme' } }]);
    expect(infos).toMatchObject([{ tenant: 'acme', key: 'tenant:acme:call-1:call:started' }]);
  });

  it('names the tenant in every outcome, also before the request is verified', async () => {
    const { receiver, post, outcomes } = createTenantsReceiver({ secret, bodyLimit: 1_000 });
    const url = '/hooks/acme';
    await receiver.receive({ method: 'GET', url, headers: {}, body: new Uint8Array() });
    await receiver.receive({ url, headers: {}, body: new Uint8Array(2_000) });
    await receiver.receive({ url, headers: {}, body: new Uint8Array() });
    await post('acme', STARTED, { secret: secretOf('other') });
    await post('acme', STARTED);
    expect(outcomes.map(({ outcome, tenant }) => [outcome, tenant])).toEqual([
      ['method-not-allowed', 'acme'],
      ['body-too-large', 'acme'],
      ['missing-header', 'acme'],
      ['signature-mismatch', 'acme'],
      ['ignored', 'acme'],
    ]);
  });

  it('keeps what is personal out of a name that nobody verified', async () => {
    const { post, outcomes, logger } = createTenantsReceiver({ secret });
    await post('anna@example.com', STARTED, { secret: secretOf('other') });
    expect(JSON.stringify([outcomes, logger.entries])).not.toContain('anna@');
    await post('anna@example.com', STARTED);
    expect(outcomes.at(-1)?.tenant).toBe('anna@example.com');
  });

  it('does not ask for the secrets of nobody to see whether it is healthy', async () => {
    const provider = jest.fn<SecretProvider>(secret);
    const { receiver } = createTenantsReceiver({ secret: provider });
    const health = await receiver.health();
    expect(health).toMatchObject({ ok: true });
    expect(health).not.toHaveProperty('secrets');
    expect(provider).not.toHaveBeenCalled();
  });

  it('needs a provider of secrets', () => {
    expect(() => createTenantsReceiver({ secret: secretOf('a') })).toThrow('expected a function');
  });
});

describe('without tenants', () => {
  /** Everything here is stored somewhere: it must stay as it is, byte for byte. */

  it('a store without tenants is asked for the keys of before', async () => {
    const inner = memoryStore();
    const asked: unknown[][] = [];
    const { send, receiver } = createTestReceiver({
      store: {
        ...inner,
        admit: (claim: Claim) => {
          const { token: _random, replayUntil: _clock, within: _within, ...rest } = claim;
          asked.push(['admit', rest]);
          return inner.admit(claim);
        },
        complete: (key, token) => {
          asked.push(['complete', key]);
          return inner.complete(key, token);
        },
      },
      on: { 'call:started': () => undefined, 'call:recording-available': () => undefined },
      custom: { key: () => 'tenant:a:b', handle: () => undefined },
      oneAtATime: ({ callId }) => callId,
    });
    await send(STARTED, { webhookId: 'id-1' });
    await send(RECORDING, { webhookId: 'id-2' });
    await send({ any: 'thing' }, { webhookId: 'id-3' });
    await receiver.deliver({ eventName: 'call:started', callId: 'a:b%' });
    const claim = (webhookId: unknown, key: string, group?: string) => [
      ['admit', { webhookId, leaseMs: 60_000, key, group }],
      ['complete', key],
    ];
    expect(asked).toEqual([
      ...claim('id-1', 'call-1:call:started', 'call-1'),
      ...claim('id-2', 'call-1:recording-available', 'call-1'),
      ...claim('id-3', 'custom:tenant:a:b'),
      ...claim(expect.stringMatching(/^redrive\.[^:]+$/), 'a%3Ab%25:call:started', 'a:b%'),
    ]);
  });

  it('what a queue, the dead letters, a provider and a handler get has no tenant', async () => {
    const queued: QueuedDelivery[] = [];
    const provider = jest.fn<SecretProvider>(() => SECRET);
    const enqueue = (delivery: QueuedDelivery) => Promise.resolve(void queued.push(delivery));
    const withQueue = createTestReceiver({ secret: provider, queue: { enqueue } });
    await withQueue.send(STARTED, { webhookId: 'id' });
    expect(queued.map((delivery) => Object.keys(delivery))).toEqual([
      ['webhookId', 'timestamp', 'receivedAt', 'key', 'eventName', 'callId', 'body'],
    ]);
    expect(provider.mock.calls).toEqual([[{ webhookId: 'id', refresh: false }]]);
    expect(Object.keys(withQueue.outcomes[0]!)).not.toContain('tenant');

    const deadLetter = memoryDeadLetters();
    let context: HandlerContext | undefined;
    const failing = createTestReceiver({
      deadLetter,
      maxAttempts: 1,
      on: {
        'call:started': (_event: unknown, given: HandlerContext) => {
          context = { ...given };
          throw new Error('down');
        },
      },
    });
    await failing.send(STARTED);
    const { letters } = await deadLetter.list();
    expect(Object.keys(letters[0]!)).not.toContain('tenant');
    expect(Object.keys(context!)).not.toContain('tenant');
  });

  it('the ids of dead letters are those of before', async () => {
    expect(await deadLetterId({ webhookId: 'id' })).toBe('8666b6630f4b4ae133e1b544');
    expect(await deadLetterId({ webhookId: 'id', key: 'k' })).toBe('a7d514f66aeb5673fbfaa8f4');
  });
});

// What every object inherits: a lookup by a name from the body must not find it.
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];
const event = (name: string) => bytes(`{"eventName":"${name}","eventId":"e-1"}`);

describe.each(NAMES)('an event called %s', (name) => {
  it.each<[string, object]>([
    ['no handlers', {}],
    ['handlers', { on: { 'call:started': () => undefined } }],
    [
      'events of its own',
      { events: { 'call:voicemail': z.object({}) }, on: { 'call:voicemail': () => undefined } },
    ],
    ['a dead letter', { events: { 'call:voicemail': z.object({}) }, deadLetter: () => undefined }],
  ])('is an unknown event to a receiver with %s', async (_with, options) => {
    const onUnhandled = jest.fn();
    const { send, outcomes } = createTestReceiver({ ...options, onUnhandled });
    expect(await send(event(name))).toBe('handled');
    expect(outcomes[0]).toMatchObject({ status: 200, eventName: name, key: `event:${name}:e-1` });
    expect(onUnhandled).toHaveBeenCalledTimes(1);
    expect(await send(event(name))).toBe('duplicate');
  });
});

describe('a flood of made-up names', () => {
  useLateClock();

  it('does not shut out tenants that are known, nor make them be asked for again', async () => {
    const { asked, flood, send } = tenants();
    for (const name of names('real', 50)) expect(await send(name, EVENT)).toBe('handled');
    for (let round = 0; round < 3; round++) await flood(names(`made-up-${String(round)}`, 1_000));
    asked.mockClear();
    for (const name of names('real', 50)) expect(await send(name, EVENT)).toBe('handled');
    expect(asked).not.toHaveBeenCalled();
  });

  it('does not keep a new tenant out', async () => {
    const { flood, send } = tenants();
    await flood(names('made-up', 1_000));
    expect(await send('real-a', EVENT)).toBe('handled');
  });

  it('of a provider that hangs asks for 1,000 at a time, and answers known and unknown names alike', async () => {
    const { asked, flood, send } = tenants();
    expect(await send('real-a', EVENT)).toBe('handled');
    asked.mockImplementation(() => new Promise<string>(() => undefined));
    asked.mockClear();
    const flooded = flood(names('made-up', 1_200));
    const stranger = send('stranger', EVENT, { secret: OTHER_SECRET });
    expect(await stranger).toBe('signature-mismatch');
    expect(asked).toHaveBeenCalledTimes(1_000);
    expect(await send('real-a', EVENT)).toBe('handled');
    await jest.advanceTimersByTimeAsync(4_001);
    expect(await flooded).toEqual(new Set(['signature-mismatch', 'secret-unavailable']));
  });
});

/** Any text: all of Unicode, halves of surrogate pairs, and what keys are made of more often. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(':', '%', '3', 'A', 'a', 'tenant'),
    fc.string({ unit: anyCharacter }),
  ),
});

describe('tenantKey', () => {
  it('is the key itself without a tenant', () => {
    fc.assert(
      fc.property(anyText, (key) => tenantKey(undefined, key) === key),
      { seed: SEED },
    );
  });

  it('can be read, and tells a:b + c from a + b:c', () => {
    expect(tenantKey('acme', 'c1:call:started')).toBe('tenant:acme:c1:call:started');
    expect(tenantKey('a', 'b:c')).toBe('tenant:a:b:c');
    expect(tenantKey('a:b', 'c')).toBe('tenant:a%3Ab:c');
    expect(tenantKey('a%3Ab', 'c')).toBe('tenant:a%253Ab:c');
  });

  it('is another one for another tenant or key, whatever they are', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, anyText, (tenant, key, otherTenant, otherKey) => {
        const isSame = tenant === otherTenant && key === otherKey;
        expect(tenantKey(tenant, key) === tenantKey(otherTenant, otherKey)).toBe(isSame);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('is another one wherever the same text is cut in two', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.nat(), (text, one, other) => {
        const [a, b] = [one % (text.length + 1), other % (text.length + 1)];
        const cutAt = (at: number) => tenantKey(text.slice(0, at), text.slice(at));
        expect(cutAt(a) === cutAt(b)).toBe(a === b);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });
});

describe('isTenantName', () => {
  it.each([
    'acme',
    'a',
    'A c:m/e%.',
    'Zoë',
    '東京',
    '😀',
    'acme.example.com:8080',
    'x'.repeat(128),
  ])('takes %j', (name) => {
    expect(isTenantName(name)).toBe(true);
  });

  it.each(['', 'x'.repeat(129), 'a\0', 'a\nb', '\u2028', '\u200b', '\ud800', 7, null, {}, ['a']])(
    'does not take %j',
    (name) => {
      expect(isTenantName(name)).toBe(false);
    },
  );
});
