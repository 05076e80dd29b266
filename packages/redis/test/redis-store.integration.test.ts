import { beforeEach, expect, it, jest } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  twoNamesTest,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import { Cluster, Redis } from 'ioredis';
import { redisDeadLetters, redisStore } from '../src/index.ts';
import { claim } from './claim.ts';
import { deliverer } from './deliverer.ts';
import { useRedis } from './use-redis.ts';

describeWithProgram('redis-server', 'redisStore on one server', () => {
  const test = useRedis();
  let redis: Redis;
  beforeEach(async () => {
    redis = test.admin;
    await redis.flushall();
  });

  it('makes one round trip to admit and one to complete', async () => {
    const { deliver } = deliverer({ store: redisStore(redis) });
    await deliver(unique('call')); // teaches the server the scripts
    await redis.config('RESETSTAT');
    for (let i = 0; i < 10; i++) expect(await deliver(unique('call'))).toBe('handled');
    const stats = await redis.info('commandstats');
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('20');
    expect(stats).not.toContain('cmdstat_eval:');
  });

  it('makes the calls of one turn of the event loop in one round trip', async () => {
    const store = redisStore(redis);
    const claims = Array.from({ length: 12 }, () => claim(unique('event')));
    await store.admit(claim()); // teaches the server the script
    await redis.config('RESETSTAT');
    await Promise.all(claims.map((one) => store.admit(one)));
    await Promise.all(claims.map(({ key, token }) => store.complete(key, token)));
    const stats = await redis.info('commandstats');
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('2');
  });

  it('lets the client see an error that all calls of a turn have', async () => {
    const store = redisStore(redis);
    await redis.config('SET', 'maxmemory', '1');
    const settled = await Promise.allSettled([store.admit(claim('a')), store.admit(claim('b'))]);
    await redis.config('SET', 'maxmemory', '0');
    for (const one of settled)
      expect(one).toMatchObject({
        reason: { name: 'ReplyError', message: expect.stringMatching(/^OOM/) },
      });
  });

  it('tells of a server that became a replica, and the client sees its error', async () => {
    const seen: string[] = [];
    const client = new Redis(test.server.port, '127.0.0.1', {
      socketTimeout: 60_000,
      reconnectOnError: ({ message }) => seen.push(message) < 0,
    });
    const { deliver } = deliverer({ store: redisStore(client) });
    expect(await deliver(unique('call'))).toBe('handled');
    await redis.replicaof('127.0.0.1', 1);
    const logger = collectingLogger();
    const onReplica = deliverer({ store: redisStore(client), logger });
    expect(await onReplica.deliver(unique('call'))).toBe('store-unavailable');
    await redis.replicaof('NO', 'ONE');
    expect(logger.lines.join()).toMatch(/READONLY .* Set reconnectOnError of ioredis/);
    expect(seen.filter((message) => message.startsWith('READONLY'))).not.toEqual([]);
    expect(await deliver(unique('call'))).toBe('handled');
    client.disconnect();
  });

  it('refuses to work on database 0 instead of one that the server lacks', async () => {
    const logger = collectingLogger();
    const client = new Redis(`redis://127.0.0.1:${String(test.server.port)}/99`);
    client.on('error', () => undefined);
    const store = redisStore(client, { logger });
    const letters = redisDeadLetters(client, { logger });
    const named = 'The server has no database 99';
    await expect(store.admit(claim(unique('event')))).rejects.toThrow(named);
    await expect(store.ping!()).rejects.toThrow(named);
    await expect(letters.list()).rejects.toThrow(named);
    expect(await redis.keys('*')).toEqual([]);
    client.disconnect();

    const other = new Redis(`redis://127.0.0.1:${String(test.server.port)}/15`);
    expect((await redisStore(other, { logger }).admit(claim(unique('event')))).status).toBe(
      'admitted',
    );
    expect(await redis.keys('*')).toEqual([]);
    other.disconnect();
  });

  it('teaches a server that lost its scripts again', async () => {
    const store = redisStore(redis);
    for (let i = 0; i < 2; i++) {
      const first = claim(unique('event'));
      await redis.script('FLUSH');
      expect(await store.admit(first)).toEqual({ status: 'admitted', attempt: 1 });
      await redis.script('FLUSH');
      expect(await store.complete(first.key, first.token)).toBe(true);
    }
  });

  it("lets leases end by the server's clock, whatever this machine's says", async () => {
    const store = redisStore(redis);
    const [short, long] = [claim('short', 40.5), claim('long')];
    await store.admit(short);
    await store.admit(long);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    try {
      expect(await store.admit(claim('long'))).toEqual({ status: 'in-progress' });
      const again = () => store.admit(claim('short'));
      await waitFor(async () => (await again()).status === 'admitted');
      expect(await store.complete('short', short.token)).toBe(false);
    } finally {
      clock.mockRestore();
    }
  });

  it('is told the same when it repeats a completion whose reply was lost', async () => {
    const store = redisStore(redis);
    const first = claim('event');
    await store.admit(first);
    for (let i = 0; i < 2; i++) expect(await store.complete('event', first.token)).toBe(true);
    expect(await store.complete('event', 'another')).toBe(false);
    expect(await store.release('event', first.token)).toBe(false);
  });

  it('forgets by itself: every key has a time to live, and no more than it needs', async () => {
    const store = redisStore(redis, { prefix: 'p', rememberFor: 700_000 });
    const [done, failed] = [claim('c:done'), claim('c:failed')];
    await store.admit(done);
    await store.admit(failed);
    await store.complete('c:done', done.token);
    await store.release('c:failed', failed.token);
    await store.admit(claim());
    const left = new Map<string, number>();
    for (const key of await redis.keys('*')) left.set(key, await redis.pttl(key));
    expect(left.get('p:{c:done}:event')).toBeGreaterThan(690_000);
    expect(left.get('p:{c:failed}:event')).toBeGreaterThan(690_000);
    expect(left.get(`p:{${done.webhookId}}:id`)).toBeGreaterThan(290_000);
    expect(left.size).toBe(5);
    for (const ms of left.values()) {
      expect(ms).toBeGreaterThan(0);
      expect(ms).toBeLessThanOrEqual(700_000);
    }
  });

  it('lets what it keeps of the outcome log run out as well, once nobody writes', async () => {
    const { log } = redisStore(redis, { prefix: 'p' });
    const at = Date.now();
    const ran = { at, process: 'one', source: 'webhook', durationMs: 5 } as const;
    const row = { ...ran, outcome: 'handled', webhookId: 'w-1' } as const;
    const failure = { ...ran, outcome: 'handler-failed', webhookId: 'w-2' } as const;
    await log!.append({
      ...{ id: 'batch-1', process: { id: 'one', at } as never, rows: [row], failures: [failure] },
      ...{ counts: { minutes: { [Math.floor(at / 60_000)]: { a: 1 } } }, marks: { started: at } },
    });
    const hours: Record<string, number> = {};
    for (const key of await redis.keys('*'))
      hours[key.replace(/\d{6,}/, 'N')] = Math.ceil((await redis.pttl(key)) / 3_600_000);
    const slot = 'p:{outcome-log}';
    expect(hours).toEqual({
      ...{ [`${slot}:batch:batch-1`]: 1, [`${slot}:marks`]: 720 },
      ...{ [`${slot}:batches`]: 50, [`${slot}:rows`]: 50 },
      ...{ [`${slot}:failed-batches`]: 50, [`${slot}:failures`]: 50 },
      ...{ [`${slot}:minutes`]: 50, [`${slot}:minutes:N`]: 50 },
      ...{ [`${slot}:processes`]: 50, [`${slot}:seen`]: 50 },
    });
  });

  it('reads on past 2,000 batches of its log without a row that is wanted', async () => {
    const log = redisStore(redis, { prefix: 'p', logger: collectingLogger() }).log!;
    const now = Date.now();
    const append = (id: string, at: number) =>
      log.append({
        ...{ id, process: { id: 'one', at: now } as never, failures: [], counts: {}, marks: {} },
        rows: [
          {
            at,
            process: 'one',
            source: 'webhook',
            outcome: 'handled',
            durationMs: 5,
            webhookId: id,
          },
        ],
      });
    const old = now - 3_600_000;
    await append('first', old);
    await append('second', old + 1);
    await Promise.all(Array.from({ length: 4_100 }, (_, at) => append(`b${String(at)}`, now)));
    const found: string[] = [];
    let [pages, before]: [number, string | undefined] = [0, undefined];
    do {
      const page = await log.read({ until: old + 1_000, batches: 1, before });
      found.push(...page.rows.map(({ webhookId }) => webhookId!));
      before = page.before;
      pages += 1;
    } while (before !== undefined && pages < 10);
    expect(found).toEqual(['second', 'first']);
    expect(pages).toBeGreaterThan(2);
  });

  it('leaves nothing of a health check for longer than a second', async () => {
    await redisStore(redis, { logger: collectingLogger() }).ping!();
    for (const key of await redis.keys('*'))
      expect(await redis.pttl(key)).toBeLessThanOrEqual(1_000);
  });

  it('refuses a webhook id with whatever event', async () => {
    const store = redisStore(redis);
    const { webhookId } = claim();
    await store.admit({ ...claim('one'), webhookId });
    for (const key of ['one', 'two', undefined])
      expect(await store.admit({ ...claim(key), webhookId })).toEqual({ status: 'replayed' });
    expect(await store.admit(claim('two'))).toEqual({ status: 'admitted', attempt: 1 });
  });

  twoNamesTest((prefix) => ({
    store: redisStore(redis, { prefix, logger: collectingLogger() }),
    deadLetters: redisDeadLetters(redis, { prefix, logger: collectingLogger() }),
  }));

  it('warns once at the start when the server may evict, and not when it may not', async () => {
    const [strict, evicting] = [collectingLogger(), collectingLogger()];
    await redisStore(redis, { logger: strict }).admit(claim());
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const store = redisStore(redis, { logger: evicting });
    await waitFor(() => evicting.lines.length > 0);
    await store.admit(claim());
    await store.ping!();
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    expect(evicting.lines).toEqual([expect.stringContaining('maxmemory-policy is allkeys-lru')]);
    expect(strict.lines).toEqual([]);
  });

  it('asks once whether the server may evict, also where its user may not know', async () => {
    await redis.acl('SETUSER', 'limited', 'on', '>pass', '~*', '&*', '+@all', '-info', '-config');
    const limited = new Redis(test.server.port, '127.0.0.1', {
      socketTimeout: 60_000,
      username: 'limited',
      password: 'pass',
      enableReadyCheck: false, // it needs INFO, and warns without
    });
    const lines = collectingLogger();
    await redis.config('RESETSTAT');
    const store = redisStore(limited, { logger: lines });
    for (let i = 0; i < 5; i++)
      expect((await store.admit(claim(unique('event')))).status).toBe('admitted');
    const stats = await redis.info('commandstats');
    const evals = Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    expect(evals).toBeLessThanOrEqual(2); // the question, and a script that the server did not know
    expect(lines.lines).toEqual([]);
    limited.disconnect();
  });

  it('is not stopped by a logger that throws', async () => {
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    let asked = 0;
    const broken = () => {
      asked += 1;
      throw new Error('no log');
    };
    const store = redisStore(redis, { logger: { warn: broken, error: broken } });
    for (let i = 0; i < 3; i++) expect((await store.admit(claim())).status).toBe('admitted');
    await waitFor(() => asked > 0);
    await store.admit(claim());
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    expect(asked).toBe(1);
  });
});

describeWithProgram('redis-server', 'redisStore on a cluster', () => {
  const test = useRedis({ cluster: true });

  it('makes two round trips to admit, and refuses a webhook id with whatever event', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: test.server.port }], {
      redisOptions: { socketTimeout: 60_000 },
    });
    const store = redisStore(cluster);
    await store.admit(claim(unique('event'))); // teaches the server the script
    await test.admin.config('RESETSTAT');
    const first = claim(unique('event'));
    const { webhookId } = first;
    for (let i = 0; i < 2; i++)
      expect(await store.admit(first)).toEqual({ status: 'admitted', attempt: 1 });
    expect(await store.complete(first.key, first.token)).toBe(true);
    for (const key of [first.key, unique('event'), undefined])
      expect(await store.admit({ ...claim(key), webhookId })).toEqual({ status: 'replayed' });
    const stats = await test.admin.info('commandstats');
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('8');
    cluster.disconnect();
  });
});
