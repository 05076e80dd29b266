import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  deferred,
  describeWithProgram,
  redisServer,
  unique,
  waitFor,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import { Redis } from 'ioredis';
import { redisStore } from '../../src/index.ts';
import { CLIENTS, type Connected } from './clients.ts';
import { deliverer, type Deliverer } from '../deliverer.ts';

interface Subject extends Deliverer {
  name: string;
  /** Ends the handlers of `waiting…` events. */
  release: ReturnType<typeof deferred<void>>;
}

/** The server goes away in every way there is, under receivers over each of the clients at once. */
describeWithProgram('redis-server', 'redisStore through outages of the server', () => {
  const open: Connected[] = [];
  const subjects: Subject[] = [];
  let server: RedisServer;

  beforeAll(async () => {
    server = await redisServer({ durable: true }); // not started yet
    for (const [name, connect] of Object.entries(CLIENTS)) {
      const connected = await connect(server.port);
      open.push(connected);
      const release = deferred();
      const store = redisStore(connected.client, { prefix: name });
      // Half of the default: outages are waited for many times here.
      const made = deliverer({ store, storeTimeout: 500 }, (callId) =>
        callId.startsWith('waiting') ? release.promise : undefined,
      );
      subjects.push({ name, release, ...made });
    }
  });
  afterAll(async () => {
    await Promise.all(subjects.map(({ close }) => close()));
    await Promise.all(open.map(({ close }) => close()));
    await server.stop();
  });

  /** For every client at once, with the client's name in what fails. */
  const each = (run: (subject: Subject) => Promise<void>) =>
    Promise.all(
      subjects.map((subject) =>
        run(subject).catch((error: unknown) => {
          throw new Error(`${subject.name}: ${String(error)}`, { cause: error });
        }),
      ),
    );
  const isAway = (callId: string) =>
    each(async ({ deliver, health }) => {
      const [outcome, ok] = await Promise.all([deliver(callId), health()]);
      expect(outcome).toBe('store-unavailable');
      expect(ok).toBe(false);
    });
  const isBack = (callId: string) =>
    each(async ({ retry, health, runs }) => {
      await retry(callId);
      expect(await health()).toBe(true);
      expect(runs.filter((run) => run.startsWith(`${callId} `))).toHaveLength(1);
    });

  it('down at the start: 503 in time, and well once it is there', async () => {
    const callId = unique('call');
    await isAway(callId);
    await server.start();
    await isBack(callId);
  });

  it('killed, and back: 503 in time, then well; what was handled is still known', async () => {
    const [before, callId] = [unique('call'), unique('call')];
    await isBack(before);
    await server.kill();
    await isAway(callId);
    await isAway(callId); // by now the clients know
    await server.start();
    await isBack(callId);
    await each(async ({ deliver }) => expect(await deliver(before)).toBe('duplicate'));
  });

  it('frozen: 503 in time, then well; claims that come through late hold nothing', async () => {
    const callId = unique('call');
    server.freeze();
    await isAway(callId);
    server.thaw();
    await isBack(callId);
  });

  it('full: 503, while what was running is still committed; then well', async () => {
    const admin = new Redis(server.port, '127.0.0.1', { socketTimeout: 60_000 });
    const [callId, running] = [unique('call'), unique('waiting')];
    const answers = subjects.map(({ deliver }) => deliver(running));
    await each(({ runs }) => waitFor(() => runs.includes(`${running} 1`)));
    await admin.config('SET', 'maxmemory', '1');
    await isAway(callId);
    for (const { release } of subjects) release.resolve();
    expect(await Promise.all(answers)).toEqual(subjects.map(() => 'handled'));
    await admin.config('SET', 'maxmemory', '0');
    await isBack(callId);
    await each(async ({ deliver }) => expect(await deliver(running)).toBe('duplicate'));
    admin.disconnect();
  });

  it('ran no handler twice for one attempt', () => {
    for (const { runs } of subjects) expect(new Set(runs).size).toBe(runs.length);
  });
});
