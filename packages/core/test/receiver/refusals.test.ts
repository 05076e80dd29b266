import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import {
  createTestReceiver,
  bytes,
  delivery,
  NOW,
  OTHER_SECRET,
  RECORDING,
  SECONDS,
  STARTED,
} from '../support.ts';

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
    expect(await code(header('X-Service-Timestamp', 'x'))).toBe('malformed-header');
    expect(await code(header('X-Service-Webhook-Id', 'other'))).toBe('signature-mismatch');
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
    const { receiver, send } = createTestReceiver({
      maxInFlight: 1,
      on: { 'call:started': () => new Promise(() => undefined) },
    });
    void send(STARTED);
    const forged = { secret: OTHER_SECRET };
    const next = { ...STARTED, callId: 'call-2' };
    expect(await send(next)).toBe('overloaded');
    expect(await send(next, forged)).toBe('signature-mismatch');
    await receiver.close({ graceMs: 0 });
    expect(await send(next)).toBe('shutting-down');
    expect(await send(next, forged)).toBe('signature-mismatch');
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
