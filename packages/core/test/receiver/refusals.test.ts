import crypto from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import {
  type ErrorInfo,
  memoryDeadLetters,
  memoryStore,
  type SecretProvider,
  generateSecret,
  sign,
  type Store,
  type TenantOf,
} from '../../src/index.ts';
import {
  bytes,
  createTestReceiver,
  deferred,
  delivery,
  NOW,
  OTHER_SECRET,
  RECORDING,
  SECONDS,
  STARTED,
} from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

describe('a refused request', () => {
  it('runs no handler, and leaves no trace in the store', async () => {
    const store = memoryStore();
    const admit = jest.fn(store.admit);
    const handle = jest.fn();
    const { receiver } = createTestReceiver({
      store: { ...store, admit },
      on: { 'call:started': handle },
      bodyLimit: 1_000,
    });
    const good = await delivery(STARTED);
    const code = async (change: object) =>
      (await receiver.receive({ ...good, ...change })).outcome.outcome;
    const header = (name: string, value: string) => ({
      headers: { ...good.headers, [name]: value },
    });
    expect(await code({ headers: {} })).toBe('missing-header');
    expect(await code(header('x-service-timestamp', 'x'))).toBe('malformed-header');
    expect(await code(header('x-service-webhook-id', 'other'))).toBe('signature-mismatch');
    expect(await code(await delivery(STARTED, { timestamp: SECONDS - 301 }))).toBe(
      'timestamp-out-of-tolerance',
    );
    expect(await code(await delivery(STARTED, { timestamp: SECONDS + 301 }))).toBe(
      'timestamp-out-of-tolerance',
    );
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await code({ method })).toBe('method-not-allowed');
    expect(await code({ body: new Uint8Array(1_001) })).toBe('body-too-large');
    expect(await code({ body: STARTED })).toBe('body-already-parsed');
    expect(await code({ body: JSON.stringify(STARTED) })).toBe('body-already-parsed');
    for (const encoding of ['gzip', 'br', 'identity, gzip'])
      expect(await code(header('content-encoding', encoding))).toBe('unsupported-encoding');
    expect(await code({ body: () => Promise.reject(new Error('socket closed')) })).toBe(
      'body-timeout',
    );
    expect(admit).not.toHaveBeenCalled();
    expect(handle).not.toHaveBeenCalled();
    expect(await code(header('content-encoding', 'Identity'))).toBe('handled');
  });

  it('has a body beyond bodyLimit; one of exactly that size is handled', async () => {
    const good = await delivery(STARTED);
    const { length } = good.body;
    const codeWith = async (bodyLimit: number, headers: object = {}) => {
      const { receiver } = createTestReceiver({
        bodyLimit,
        on: { 'call:started': () => undefined },
      });
      const request = { ...good, headers: { ...good.headers, ...headers } };
      return (await receiver.receive(request)).outcome.outcome;
    };
    expect(await codeWith(length)).toBe('handled');
    expect(await codeWith(length, { 'content-length': String(length) })).toBe('handled');
    expect(await codeWith(length - 1)).toBe('body-too-large');
  });

  it('gets the response of a forgery, also from a receiver that is busy or closed', async () => {
    const handler = deferred();
    const { receiver, send } = createTestReceiver({
      maxInFlight: 1,
      on: { 'call:started': () => handler.promise },
    });
    const first = send(STARTED);
    const forged = { secret: OTHER_SECRET };
    const next = { ...STARTED, callId: 'call-2' };
    expect(await send(next)).toBe('overloaded');
    expect(await send(next, forged)).toBe('signature-mismatch');
    await receiver.close({ graceMs: 0 });
    expect(await send(next)).toBe('shutting-down');
    expect(await send(next, forged)).toBe('signature-mismatch');
    handler.resolve();
    await first;
  });

  it('does not read the body of a wrong method', async () => {
    const body = jest.fn<() => Promise<Uint8Array>>();
    const answer = await createTestReceiver().receiver.receive({
      method: 'GET',
      headers: {},
      body,
    });
    expect(answer.headers['allow']).toBe('POST');
    expect(body).not.toHaveBeenCalled();
  });

  it('with a timestamp 299 s ahead is still refused when it is replayed 598 s later', async () => {
    const clock = { now: NOW };
    const { receiver } = createTestReceiver({ now: () => clock.now });
    const request = await delivery({ eventName: 'call:completed' }, { timestamp: SECONDS + 299 });
    const codes: string[] = [];
    for (const later of [0, 1, 300, 598, 599, 599.999, 600]) {
      clock.now = NOW + later * 1000;
      codes.push((await receiver.receive(request)).outcome.outcome);
    }
    expect(codes).toEqual([
      'ignored',
      'replayed',
      'replayed',
      'replayed',
      'replayed',
      'replayed',
      'timestamp-out-of-tolerance',
    ]);
  });

  it('is also an authentic delivery with an invalid payload, if there is no deadLetter', async () => {
    const { send } = createTestReceiver({ on: { 'call:recording-available': () => undefined } });
    for (const body of [
      bytes('{'),
      Uint8Array.from([0xff]),
      bytes('['.repeat(10_000) + ']'.repeat(10_000)),
    ])
      expect(await send(body)).toBe('invalid-payload');
    expect(await send({ ...RECORDING, eventId: '', callId: null })).toBe('invalid-payload');
  });
});

describe('tenants that are unknown, or refused', () => {
  const secret: SecretProvider = ({ tenant }) => (tenant === 'acme' ? secretOf(tenant) : undefined);
  const forged = { secret: OTHER_SECRET };

  describe('an unknown tenant', () => {
    it('gets exactly what a forgery gets', async () => {
      const { post, send } = createTenantsReceiver({ secret });
      expect(await send('acme', STARTED)).toBe('ignored');
      const forgery = await post('acme', STARTED, forged);
      for (const name of ['stranger', 'x'.repeat(500), '', 'a%00', '%', '__proto__']) {
        const { status, headers, body } = await post(name, STARTED, forged);
        expect({ status, headers, body }).toEqual({
          status: forgery.status,
          headers: forgery.headers,
          body: forgery.body,
        });
      }
      expect(forgery.status).toBe(401);
    });

    it.each([
      ['nothing', undefined],
      ['null', null],
      ['an empty list', []],
    ])('is one for which the provider has %s', async (_what, none) => {
      const { send, logger } = createTenantsReceiver({ secret: () => none });
      expect(await send('acme', STARTED)).toBe('signature-mismatch');
      expect(logger.all[0]).toContain('There is no secret for this tenant.');
    });

    it('calls onError once in a while, if the provider throws for it', async () => {
      const errors: unknown[] = [];
      const { send } = createTenantsReceiver({
        secret: ({ tenant }) => {
          throw new Error(`no ${tenant}`);
        },
        onError: (error) => errors.push(error),
      });
      for (const name of ['a', 'b', 'c', 'a'])
        expect(await send(name, STARTED, forged)).toBe('secret-unavailable');
      expect(errors).toEqual([new Error('no a')]);
    });

    it('makes the same work as a forgery: lookups and HMACs, the first time and later', async () => {
      jest.useFakeTimers();
      try {
        const own = generateSecret();
        const provider = jest.fn<SecretProvider>(({ tenant }) =>
          tenant === 'acme' ? own : undefined,
        );
        const { send } = createTenantsReceiver({ secret: provider });
        const hmac = jest.spyOn(crypto, 'createHmac');
        await sign({ secret: OTHER_SECRET, body: JSON.stringify(STARTED) });
        expect(hmac).toHaveBeenCalled();
        const work = async (name: string) => {
          provider.mockClear();
          hmac.mockClear();
          expect(await send(name, STARTED, forged)).toBe('signature-mismatch');
          // One HMAC is the sender's.
          return { lookups: provider.mock.calls.length, hmacs: hmac.mock.calls.length - 1 };
        };
        // Both names are new, then just asked for, then asked for again.
        // The first time, the secret gets its fingerprint as well.
        for (const expected of [
          { lookups: 1, hmacs: 3 },
          { lookups: 0, hmacs: 1 },
        ])
          for (const name of ['acme', 'stranger']) expect(await work(name)).toEqual(expected);
        await jest.advanceTimersByTimeAsync(5_000);
        for (const name of ['acme', 'stranger'])
          expect(await work(name)).toEqual({ lookups: 1, hmacs: 2 });
      } finally {
        jest.useRealTimers();
      }
    });

    it('is let in once the provider knows it', async () => {
      jest.useFakeTimers();
      try {
        const provider = jest.fn<SecretProvider>(() => undefined);
        const { send } = createTenantsReceiver({ secret: provider });
        expect(await send('new', STARTED)).toBe('signature-mismatch');
        provider.mockImplementation(() => secretOf('new'));
        await jest.advanceTimersByTimeAsync(5_000);
        expect(await send('new', STARTED)).toBe('ignored');
      } finally {
        jest.useRealTimers();
      }
    });
  });

  describe('the option tenant', () => {
    const withTenant = (tenant: unknown, onError?: (error: unknown, info: ErrorInfo) => void) =>
      createTenantsReceiver({ secret, tenant: tenant as TenantOf, onError });

    it.each([undefined, null, '', 'x'.repeat(129), 'a\nb', '\ud800'])(
      'may return %j for a request of no tenant: a forgery',
      async (name) => {
        const provider = jest.fn<SecretProvider>(secret);
        const { send, logger, outcomes } = createTenantsReceiver({
          secret: provider,
          tenant: () => name,
        });
        expect(await send('acme', STARTED)).toBe('signature-mismatch');
        expect(provider).not.toHaveBeenCalled();
        expect(logger.all[0]).toContain('The request names no tenant');
        expect(outcomes[0]).not.toHaveProperty('tenant');
      },
    );

    it.each<[string, unknown, string]>([
      ['a number', () => 7, 'TypeError: It must return a string or undefined, and not a promise.'],
      ['a promise', () => Promise.reject(new Error('late')), 'TypeError: It must return a string'],
      [
        'an error',
        () => {
          throw new Error('no such map');
        },
        'Error: no such map',
      ],
    ])('that gives %s is a bug: 503, a log line, and onError', async (_what, tenant, why) => {
      const unhandled = jest.fn();
      process.once('unhandledRejection', unhandled);
      const errors: unknown[] = [];
      const { send, post, logger } = withTenant(tenant, (error, info) =>
        errors.push([error, info]),
      );
      const { status, body } = await post('acme', STARTED);
      expect({ status, body }).toEqual({ status: 503, body: '{"outcome":"secret-unavailable"}' });
      expect(logger.entries).toMatchObject([{ level: 'error' }]);
      expect(logger.all[0]).toContain(`tenant failed: ${why}`);
      expect(errors).toMatchObject([[expect.any(Error), { source: 'hook' }]]);
      // Anybody may cause it, so the error tracker gets it once.
      for (let i = 0; i < 100; i++) expect(await send('acme', STARTED)).toBe('secret-unavailable');
      expect(errors).toHaveLength(1);
      await new Promise((resolve) => setImmediate(resolve));
      process.removeListener('unhandledRejection', unhandled);
      expect(unhandled).not.toHaveBeenCalled();
    });

    it('that fails makes no difference to what is not signed', async () => {
      const { receiver } = withTenant(() => 7);
      const { status } = await receiver.receive({ headers: {}, body: new Uint8Array() });
      expect(status).toBe(401);
    });

    it('gets the same view in every runtime', async () => {
      const seen: unknown[] = [];
      const { receiver } = withTenant(({ path, host, headers }: Parameters<TenantOf>[0]) => {
        seen.push({ path, host, type: headers['content-type'] });
      });
      const headers = { host: 'acme.example.com', 'content-type': 'application/json' };
      const body = new Uint8Array();
      await receiver.receive({ url: '/a?b', headers, body });
      await receiver.receive({ url: 'http://x/a?b', headers: new Headers(headers), body });
      const expected = { path: '/a', host: 'acme.example.com', type: 'application/json' };
      expect(seen).toEqual([expected, expected]);
    });
  });
});

describe('a receiver with tenants', () => {
  const secret: SecretProvider = ({ tenant }) => secretOf(tenant);
  const on = { 'call:started': () => undefined };

  it('names the tenant in dead letters, and runs them again as its own', async () => {
    const deadLetter = memoryDeadLetters();
    let isDown = true;
    const runs: (string | undefined)[] = [];
    const { receiver, send } = createTenantsReceiver({
      secret,
      deadLetter,
      maxAttempts: 1,
      on: {
        'call:started': (_event, { tenant }) => {
          runs.push(tenant);
          if (isDown) throw new Error('down');
        },
      },
    });
    for (const tenant of ['a', 'b']) {
      expect(await send(tenant, STARTED)).toBe('dead-lettered');
      expect(await send(tenant, new Uint8Array([0]), { webhookId: 'same' })).toBe('dead-lettered');
    }
    const { letters } = await deadLetter.list();
    const tenants = letters.map(({ tenant, reason }) => `${String(tenant)} ${reason}`).sort();
    expect(tenants).toEqual([
      'a handler-failed',
      'a invalid-payload',
      'b handler-failed',
      'b invalid-payload',
    ]);
    isDown = false;
    const { id } = letters.find(({ tenant, key }) => tenant === 'b' && key !== undefined)!;
    const letter = (await deadLetter.get(id))!;
    expect(await receiver.deliver(letter)).toMatchObject({ outcome: 'handled', tenant: 'b' });
    expect(runs).toEqual(['a', 'b', 'b']);
    expect(await send('b', STARTED)).toBe('duplicate');
    expect(await send('a', STARTED)).toBe('in-dead-letters');
  });

  it('takes events of a tenant that is named, and no others', async () => {
    const memory = memoryStore();
    const webhookIds: string[] = [];
    const store: Store = {
      ...memory,
      admit(claim) {
        webhookIds.push(claim.webhookId);
        return memory.admit(claim);
      },
    };
    const { receiver, send } = createTenantsReceiver({ secret, on, store });
    expect(await receiver.deliver(STARTED, { tenant: 'a' })).toMatchObject({
      outcome: 'handled',
      tenant: 'a',
      key: 'tenant:a:call-1:call:started',
    });
    expect(await send('a', STARTED)).toBe('duplicate');
    expect(await send('b', STARTED)).toBe('handled');
    expect(webhookIds.map((id) => id.slice(0, 9))).toEqual(['tenant:a:', 'tenant:a:', 'tenant:b:']);
    await expect(receiver.deliver(STARTED)).rejects.toThrow('Name the tenant of the event');
    await expect(receiver.deliver(STARTED, { tenant: '' })).rejects.toThrow('1 to 128');
  });
});
