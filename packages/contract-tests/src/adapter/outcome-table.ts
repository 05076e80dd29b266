import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { memoryStore, type DeadLetter, type QueuedDelivery, type Store } from '@call-webhooks/core';
import { deferred } from '../deferred.ts';
import { callBody, recordingBody } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

const broken = (): Promise<never> => Promise.reject(new Error('connection refused'));
const brokenStore: Store = { admit: broken, complete: broken, release: broken, extend: broken };

/** Each row of the outcome table. */
export function outcomeTable({ start, host }: AdapterTestContext): void {
  describe('the outcome table', () => {
    it('handled: 200, with the typed event, for each of the three', async () => {
      const seen: string[] = [];
      const { sender } = await start({
        on: {
          'call:started': (event) => seen.push(event.eventName),
          'call:completed': (event) => seen.push(event.eventName),
          'call:recording-available': (event) => seen.push(String(event.recordingUrl)),
        },
      });
      expect(await sender.post(recordingBody('c1'))).toEqual({ status: 200, outcome: 'handled' });
      expect(await sender.post(callBody('c1', 'call:completed'))).toEqual({
        status: 200,
        outcome: 'handled',
      });
      expect(await sender.post(callBody('c1', 'call:started'))).toEqual({
        status: 200,
        outcome: 'handled',
      });
      expect(seen).toEqual([
        'https://api.example.com/v1/calls/c1/recording',
        'call:completed',
        'call:started',
      ]);
    });

    it('duplicate: 200, and ignored: 200 for an unknown event', async () => {
      const { sender } = await start({ on: { 'call:completed': () => undefined } });
      await sender.post(callBody('c1'));
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'duplicate' });
      expect(await sender.post(callBody('c1', 'call:new'))).toEqual({
        status: 200,
        outcome: 'ignored',
      });
      expect(await sender.post('{"no":"name"}')).toEqual({ status: 200, outcome: 'ignored' });
    });

    it('queued: 202 with the raw bytes enqueued; store-unavailable: 503 when the queue is down', async () => {
      const queued: QueuedDelivery[] = [];
      const { sender } = await start({
        queue: { enqueue: async (delivery) => void queued.push(delivery) },
      });
      const body = callBody('ä1');
      expect(await sender.post(body)).toEqual({ status: 202, outcome: 'queued' });
      expect(Buffer.from(queued[0]!.body, 'base64').toString()).toBe(body);
      expect(queued[0]).toMatchObject({ key: 'ä1:call:completed', eventName: 'call:completed' });

      const down = await start({ queue: { enqueue: broken } });
      expect(await down.sender.post(body)).toEqual({ status: 503, outcome: 'store-unavailable' });
    });

    it('dead-lettered: 200 after maxAttempts, and at once for what can never be parsed', async () => {
      const letters: DeadLetter[] = [];
      const { sender } = await start({
        maxAttempts: 2,
        on: { 'call:completed': () => Promise.reject(new Error('always')) },
        deadLetter: (delivery) => letters.push(delivery),
      });
      expect(await sender.post(callBody('c1'))).toEqual({ status: 500, outcome: 'handler-failed' });
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'dead-lettered' });
      expect(await sender.post('{"eventName":')).toEqual({ status: 200, outcome: 'dead-lettered' });
      expect(letters.map(({ reason, attempt }) => [reason, attempt])).toEqual([
        ['handler-failed', 2],
        ['invalid-payload', 1],
      ]);
      expect(Buffer.from(letters[0]!.rawBody).toString()).toBe(callBody('c1'));
    });

    (host.readsBody ? it.skip : it)('body-timeout: 408, and nothing is claimed', async () => {
      const { url, outcomes } = await start({ bodyTimeout: 30 });
      const { hostname, port, pathname } = new URL(url);
      const reply = deferred<string>();
      const socket = connect(Number(port), hostname);
      socket.on('data', (data) => reply.resolve(data.toString())).on('error', reply.reject);
      socket.write(
        `POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\nhalf`,
      );
      expect(await reply.promise).toMatch(/^HTTP\/1\.1 408 /);
      expect(outcomes.map((outcome) => outcome.outcome)).toEqual(['body-timeout']);
      socket.destroy();
    });

    it('body-too-large: 413, with and without a content-length', async () => {
      const { sender } = await start({ bodyLimit: 100 });
      const body = 'x'.repeat(200);
      expect((await sender.raw(body)).status).toBe(413);
      expect((await sender.raw(body, { headers: { 'transfer-encoding': 'chunked' } })).status).toBe(
        413,
      );
    });

    it('unsupported-encoding: 415, invalid-payload: 422', async () => {
      const { sender } = await start({ on: { 'call:completed': () => undefined } });
      const gzip = { headers: { 'content-encoding': 'gzip' } };
      expect(await sender.post(callBody('c1'), gzip)).toEqual({
        status: 415,
        outcome: 'unsupported-encoding',
      });
      for (const body of ['', '{', '\ufeff{}']) {
        expect(await sender.post(body)).toEqual({ status: 422, outcome: 'invalid-payload' });
      }
      expect((await sender.post(new Uint8Array([0x22, 0xff, 0x22]))).outcome).toBe(
        host.decodesBody ? 'signature-mismatch' : 'invalid-payload',
      );
    });

    it('handled: 200 for an event with an odd field', async () => {
      const { sender } = await start({ on: { 'call:completed': () => undefined } });
      const body = callBody('c1', 'call:completed', { callId: 7 });
      expect(await sender.post(body)).toEqual({ status: 200, outcome: 'handled' });
    });

    it('store-unavailable, secret-unavailable, shutting-down: 503', async () => {
      const ran: unknown[] = [];
      const on = { 'call:completed': () => ran.push(1) };
      const noStore = await start({ on, store: brokenStore });
      expect(await noStore.sender.post(callBody('c1'))).toEqual({
        status: 503,
        outcome: 'store-unavailable',
      });
      const noSecret = await start({
        on,
        secret: () => Promise.reject(new Error('vault is sealed')),
      });
      expect(await noSecret.sender.post(callBody('c1'))).toEqual({
        status: 503,
        outcome: 'secret-unavailable',
      });
      const closed = await start({ on });
      await closed.receiver.close();
      expect(await closed.sender.post(callBody('c1'))).toEqual({
        status: 503,
        outcome: 'shutting-down',
      });
      expect(ran).toEqual([]);
    });

    it('a store that hangs is given up on: 503', async () => {
      const hanging: Store = { ...memoryStore(), admit: () => new Promise(() => undefined) };
      const { sender } = await start({ store: hanging, storeTimeout: 20 });
      expect(await sender.post(callBody('c1'))).toEqual({
        status: 503,
        outcome: 'store-unavailable',
      });
    });

    it('overloaded: 503 above maxInFlight', async () => {
      const entered = deferred();
      const release = deferred();
      const { sender } = await start({
        maxInFlight: 1,
        on: {
          'call:completed': async () => {
            entered.resolve();
            await release.promise;
          },
        },
      });
      const first = sender.post(callBody('c1'));
      await entered.promise;
      expect(await sender.post(callBody('c2'))).toEqual({ status: 503, outcome: 'overloaded' });
      release.resolve();
      expect((await first).outcome).toBe('handled');
    });
  });
}
