import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateSecret, sign } from '@call-webhooks/core';
import {
  callBody,
  deferred,
  exchange,
  requestBytes,
  signedDelivery,
  startSender,
  waitFor,
  type Sender,
} from '@call-webhooks/contract-tests';
import { startControl, type Control } from './control.ts';
import type { Served } from './process.ts';

/** A runtime that serves the receivers of `programs`. */
export interface RuntimeUnderTest {
  name: string;
  /** Set if it reads the whole body before the receiver does, and needs its length. */
  buffersBodies?: true;
  /** @param folder for its files; removed afterwards */
  start(settings: { secret: string; control: string }, folder: string): Promise<Served>;
}

/** The part of the adapter contract tests that can be seen from outside of a process. */
export function runtimeContractTests(runtime: RuntimeUnderTest): void {
  describe(`${runtime.name}: contract tests over HTTP`, () => {
    const secret = generateSecret();
    let folder: string;
    let control: Control;
    let served: Served | undefined;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'call-webhooks-'));
      control = await startControl();
      served = await runtime.start({ secret, control: control.url }, folder);
    });
    afterAll(async () => {
      await served?.close();
      await control.close();
      await rm(folder, { recursive: true, force: true });
    });

    const sender = (path = '/hook'): Sender =>
      // Some hosts refuse what could be a form of another site.
      startSender(`http://127.0.0.1:${String(served?.port)}${path}`, secret, {
        'content-type': 'application/json',
      });
    const runsOf = (callId: string) => control.runs.filter((run) => run.startsWith(`${callId}/`));

    it('handles what is signed, byte for byte, and refuses everything else', async () => {
      const body = callBody('signed', 'call:completed', { note: 'Zoë 📞' });
      expect(await sender().post(body)).toEqual({ status: 200, outcome: 'handled' });
      const other = { secret: generateSecret() };
      expect((await sender().post(body, other)).outcome).toBe('signature-mismatch');
      const headers = { ...(await sign({ secret, body })) };
      expect((await sender().raw(`${body} `, { headers })).status).toBe(401);
      expect((await sender().raw(body)).outcome).toBe('missing-header');
      expect((await sender().raw('', { method: 'GET' })).status).toBe(405);
      expect(runsOf('signed')).toEqual(['signed/1']);
    });

    it('handles an event once: a replay gets 409, a duplicate 200', async () => {
      const webhookId = crypto.randomUUID();
      expect((await sender().post(callBody('once'), { webhookId })).outcome).toBe('handled');
      expect(await sender().post(callBody('once'), { webhookId })).toEqual({
        status: 409,
        outcome: 'replayed',
      });
      expect((await sender().post(callBody('once'))).outcome).toBe('duplicate');
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => sender().post(callBody('at-once'))),
      );
      expect(replies.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
      expect([runsOf('once'), runsOf('at-once')]).toEqual([['once/1'], ['at-once/1']]);
    });

    it('a handler that fails runs again on the retry', async () => {
      control.decide('fails/1', false);
      expect(await sender().post(callBody('fails'))).toEqual({
        status: 500,
        outcome: 'handler-failed',
      });
      expect((await sender().post(callBody('fails'))).outcome).toBe('handled');
      expect(runsOf('fails')).toEqual(['fails/1', 'fails/2']);
    });

    it('refuses a body that is too large, with and without its length', async () => {
      const large = callBody('large', 'call:completed', { note: 'x'.repeat(10_000) });
      const tooLarge = { status: 413, outcome: 'body-too-large' };
      expect(await sender().post(large)).toEqual(tooLarge);
      const headers = { 'transfer-encoding': 'chunked' };
      if (!runtime.buffersBodies) expect(await sender().post(large, { headers })).toEqual(tooLarge);
      const encoded = { headers: { 'content-encoding': 'gzip' } };
      expect((await sender().post(callBody('gzip'), encoded)).status).toBe(415);
      expect([runsOf('large'), runsOf('gzip')]).toEqual([[], []]);
    });

    const itIfStreamed = runtime.buffersBodies ? it.skip : it;
    itIfStreamed('a slow body gets 408, also after other deliveries', async () => {
      // On a busy machine a whole body may take longer than the limit, too.
      const path = '/short-body-timeout';
      for (const callId of ['whole-1', 'whole-2'])
        await waitFor(async () => (await sender(path).post(callBody(callId))).status === 200);
      const url = `http://127.0.0.1:${String(served?.port)}${path}`;
      for (const callId of ['slow-1', 'slow-2']) {
        const whole = requestBytes(await signedDelivery(url, secret, callBody(callId)));
        const { statuses } = await exchange(url, [whole.subarray(0, -10)], { timeoutMs: 10_000 });
        expect(statuses).toEqual([408]);
      }
      expect([runsOf('slow-1'), runsOf('slow-2')]).toEqual([[], []]);
    });

    it('past the deadline it answers 503, and what succeeds late is not run again', async () => {
      const earlier = () => sender('/short-deadline').post(callBody('earlier'));
      await waitFor(async () => (await earlier()).status === 200);
      const release = deferred<boolean>();
      control.decide('late/1', release.promise);
      expect(await sender('/short-deadline').post(callBody('late'))).toEqual({
        status: 503,
        outcome: 'deadline',
      });
      await waitFor(() => runsOf('late').length === 1);
      expect((await sender().post(callBody('late'))).outcome).toBe('in-progress');
      release.resolve(true);
      await waitFor(async () => (await sender().post(callBody('late'))).outcome === 'duplicate');
      expect(runsOf('late')).toEqual(['late/1']);
    });

    it('what fails late is run again', async () => {
      const release = deferred<boolean>();
      control.decide('late-failure/1', release.promise);
      const body = callBody('late-failure');
      expect((await sender('/short-deadline').post(body)).outcome).toBe('deadline');
      release.resolve(false);
      await waitFor(async () => (await sender().post(body)).outcome === 'handled');
      expect(runsOf('late-failure')).toEqual(['late-failure/1', 'late-failure/2']);
    });
  });
}
