import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { deferred } from '../deferred.ts';
import { callBody } from '../sender.ts';
import type { AdapterTestContext } from './under-test.ts';

/** What happens to one event: each row of that table. */
export function oneEvent({ start, host }: AdapterTestContext): void {
  describe('what happens to one event', () => {
    it('a handler that throws is run again on the retry', async () => {
      const attempts: number[] = [];
      const { sender } = await start({
        on: {
          'call:completed': (_event, context) => {
            attempts.push(context.attempt);
            if (context.attempt === 1) throw new Error('the CRM is down');
          },
        },
      });
      expect(await sender.post(callBody('c1'))).toEqual({ status: 500, outcome: 'handler-failed' });
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'handled' });
      expect(attempts).toEqual([1, 2]);
    });

    it('while it runs elsewhere it is in-progress: 503', async () => {
      const entered = deferred();
      const release = deferred();
      let runs = 0;
      const { sender } = await start({
        on: {
          'call:completed': async () => {
            runs += 1;
            entered.resolve();
            await release.promise;
          },
        },
      });
      const first = sender.post(callBody('c1'));
      await entered.promise;
      expect(await sender.post(callBody('c1'))).toEqual({ status: 503, outcome: 'in-progress' });
      release.resolve();
      expect((await first).outcome).toBe('handled');
      expect(runs).toBe(1);
    });

    /** Lets a handler end after its deadline: before the response, where the host waits for it. */
    async function endLate(reply: Promise<unknown>, overdue: Promise<unknown>, end: () => void) {
      await (host.waitsForLateHandlers ? overdue : reply);
      end();
    }

    it('one that outlives the deadline gets 503 in time, commits late, and its retry is a duplicate', async () => {
      const release = deferred();
      const overdue = deferred();
      const late = deferred();
      const aborted: boolean[] = [];
      const outcomes: [string, boolean | undefined][] = [];
      const { sender } = await start({
        ackWithin: 30,
        onOutcome: ({ outcome, late: isLate }) => {
          outcomes.push([outcome, isLate]);
          (isLate ? late : overdue).resolve();
        },
        on: {
          'call:completed': async (_event, { signal }) => {
            await release.promise;
            aborted.push(signal.aborted);
          },
        },
      });
      const reply = sender.post(callBody('c1'));
      await endLate(reply, overdue.promise, release.resolve);
      expect(await reply).toEqual({ status: 503, outcome: 'deadline' });
      await late.promise;
      expect(aborted).toEqual([true]);
      expect(outcomes).toEqual([
        ['deadline', undefined],
        ['handled', true],
      ]);
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'duplicate' });
    });

    it('a late failure is released and reported, and the retry runs it', async () => {
      const overdue = deferred<string>();
      const late = deferred<string>();
      const release = deferred();
      const { sender } = await start({
        ackWithin: 30,
        onOutcome: ({ outcome, late: isLate }) => (isLate ? late : overdue).resolve(outcome),
        on: {
          'call:completed': async (_event, { attempt }) => {
            if (attempt > 1) return;
            await release.promise;
            throw new Error('too late');
          },
        },
      });
      const reply = sender.post(callBody('c1'));
      await endLate(reply, overdue.promise, release.resolve);
      expect((await reply).outcome).toBe('deadline');
      expect(await late.promise).toBe('handler-failed');
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'handled' });
    });

    it('when its process dies the lease runs out, the retry runs it, and the zombie can not commit', async () => {
      let clock = Date.now();
      const now = () => clock;
      const store = memoryStore({ now });
      const entered = deferred();
      const hang = deferred();
      const tokens: string[] = [];
      const { sender, outcomes } = await start({
        now,
        store: {
          ...store,
          admit: (claim) => {
            tokens.push(claim.token);
            return store.admit(claim);
          },
        },
        on: {
          'call:completed': async (_event, { attempt }) => {
            if (attempt > 1) return;
            entered.resolve();
            await hang.promise;
          },
        },
      });
      const first = sender.post(callBody('c1'));
      await entered.promise;
      clock += 61_000;
      expect(
        (await sender.post(callBody('c1'), { timestamp: Math.floor(clock / 1000) })).outcome,
      ).toBe('handled');
      expect(outcomes.at(-1)?.attempt).toBe(2);
      hang.resolve();
      expect(await first).toEqual({ status: 503, outcome: 'in-progress' });
      const [token = ''] = tokens;
      expect(await store.complete('c1:call:completed', token)).toBe(false);
      expect(await store.release('c1:call:completed', token)).toBe(false);
      expect(await store.extend('c1:call:completed', token, 60_000)).toBe(false);
    });

    it('the same event under 50 webhook ids at once runs its handler once', async () => {
      let runs = 0;
      const { sender } = await start({ on: { 'call:completed': async () => void (runs += 1) } });
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => sender.post(callBody('c1'))),
      );
      expect(runs).toBe(1);
      expect(replies.filter(({ outcome }) => outcome === 'handled')).toHaveLength(1);
      expect(
        replies.every(({ outcome }) =>
          ['handled', 'in-progress', 'duplicate'].includes(String(outcome)),
        ),
      ).toBe(true);
    });

    it('a custom payload has the key that it is given, or none and is handled every time', async () => {
      const seen: unknown[] = [];
      const schema = {
        '~standard': {
          version: 1 as const,
          vendor: 'test',
          validate: (value: unknown) => ({ value }),
        },
      };
      const handle = (payload: unknown) => seen.push(payload);
      const keyed = await start({
        custom: { schema, key: (payload) => (payload as { id: string }).id, handle },
      });
      expect((await keyed.sender.post('{"id":"a"}')).outcome).toBe('handled');
      expect((await keyed.sender.post('{"id":"a"}')).outcome).toBe('duplicate');
      const keyless = await start({ custom: { schema, handle } });
      expect((await keyless.sender.post('{"id":"a"}')).outcome).toBe('handled');
      expect((await keyless.sender.post('{"id":"a"}')).outcome).toBe('handled');
      expect(keyless.outcomes.every(({ key }) => key === undefined)).toBe(true);
      expect(seen).toHaveLength(3);
    });
  });
}
