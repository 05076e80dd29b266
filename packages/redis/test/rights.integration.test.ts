import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  deadLetter,
  describeWithProgram,
  queuedCall,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue, createBullmqWorker, redisDeadLetters, redisStore } from '../src/index.ts';
import { claim } from './claim.ts';
import { useRedis } from './use-redis.ts';

const logger = collectingLogger();

/** The commands of the docs that give a user its rights, as lists of their words. */
const COMMANDS = [
  ...readFileSync('docs/stores.md', 'utf8').matchAll(/^ACL SETUSER [^`]+?(?<!\\)$/gm),
]
  .map(([text]) => text.replaceAll('\\\n', ' ').trim().split(/\s+/))
  .map(([, , name, ...rules]) => ({ name: name!, rules }));

describeWithProgram('redis-server', 'a user with the rights of the docs', () => {
  const test = useRedis();
  const login = { password: 'PASSWORD', socketTimeout: 60_000 };
  const setUser = (name: string, rules: string[]) =>
    test.admin.acl('SETUSER', name, 'reset', ...rules);
  const denied = async () =>
    ((await test.admin.acl('LOG')) as string[][]).map((entry) => entry.slice(4, 8).join(' '));

  /** Everything that a receiver, its console and a redrive do. */
  async function useEverything(client: Redis) {
    const store = redisStore(client, { logger });
    const letters = redisDeadLetters(client, { logger });
    await store.ping!();
    await letters.ping!();
    const first = { ...claim(unique('event')), group: unique('group') };
    expect((await store.admit(first)).status).toBe('admitted');
    expect(await store.extend(first.key, first.token, 50_000)).toBe(true);
    expect(await store.release(first.key, first.token)).toBe(true);
    const second = claim(first.key);
    await store.admit(second);
    expect(await store.complete(first.key, second.token, 'dead-lettered')).toBe(true);
    expect(await store.peek!([first.key])).toEqual(['dead-lettered']);
    expect(await store.reopen!(first.key)).toBe(true);
    expect(await store.forget!([first.key])).toBe(0);
    await store.saveCursor!('page', '1');
    expect(await store.loadCursor!('page')).toBe('1');
    await store.saveCursor!('page');
    const minute = Math.floor(Date.now() / 60_000);
    const at = Date.now();
    const process = { id: 'p', host: 'h', pid: 1, startedAt: 1, at, inFlight: 0 };
    const counts = { minutes: { [minute]: { 'outcome/webhook/handled/': 1 } } };
    const row = { at, process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1 } as const;
    const rows = { rows: [row], failures: [{ ...row, outcome: 'handler-failed' as const }] };
    for (const age of [180_000_001, 0]) {
      // The second one drops the first.
      const batch = { id: unique('batch'), process, ...rows, counts, marks: { queue: at - age } };
      await store.log!.append(batch);
    }
    expect((await store.log!.read()).rows).toHaveLength(4);
    expect((await store.log!.counts('minutes', minute, minute + 1)).size).toBe(1);
    expect((await store.log!.marks()).marks).toEqual({ queue: expect.any(Number) });
    expect(await store.log!.processes()).toHaveLength(1);
    await letters.put(deadLetter());
    const [{ id } = { id: '' }] = (await letters.list()).letters;
    expect(await letters.claim(id, { token: 'a', leaseMs: 60_000 })).toMatchObject({ id });
    expect(await letters.extend(id, 'a', 60_000)).toBe(true);
    expect(await letters.giveBack(id, 'a')).toBe(true);
    await letters.claim(id, { token: 'b', leaseMs: 60_000 });
    expect(await letters.settle(id, 'b')).toBe(true);
    await letters.put(deadLetter());
    const turn = { before: new Date(), limit: 10, token: 'c', leaseMs: 1_000 };
    expect(await letters.removeExpired!(turn)).toBe(1);
    expect(await letters.count()).toBe(0);
  }

  it('can do everything with the store and the dead letters, and nothing with other keys', async () => {
    const { name, rules } = COMMANDS[0]!;
    await setUser(name, rules);
    const client = new Redis(test.server.port, '127.0.0.1', { ...login, username: name });
    const errors: unknown[] = [];
    client.on('error', (error) => errors.push(error));
    await useEverything(client);
    expect({ errors, denied: await denied() }).toEqual({ errors: [], denied: [] });
    await expect(client.set('mine', '1')).rejects.toThrow('NOPERM');
    client.disconnect();
  });

  it('is told, or is not ready, without any one of them', async () => {
    const { name, rules } = COMMANDS[0]!;
    const optional = ['+ping', '+info', '+select'];
    const needed = rules.filter((rule) => rule.startsWith('+') && !optional.includes(rule));
    expect(needed.length).toBeGreaterThan(20);
    const unnoticed: string[] = [];
    for (const rule of needed) {
      await setUser(name, [...rules, rule.replace('+', '-')]);
      await test.admin.script('FLUSH');
      const client = new Redis(test.server.port, '127.0.0.1', { ...login, username: name });
      client.on('error', () => undefined);
      const works = await useEverything(client).then(
        () => true,
        () => false,
      );
      if (works) unnoticed.push(rule);
      client.disconnect();
    }
    expect(unnoticed).toEqual([]);
  });

  it('can run the queue and the worker of BullMQ', async () => {
    const { name, rules } = COMMANDS[1]!;
    await test.admin.acl('LOG', 'RESET');
    await setUser(name, rules);
    const connection = { host: '127.0.0.1', port: test.server.port, ...login, username: name };
    const queue = new Queue('calls', { connection });
    const hand = bullmqQueue(queue, { maxRuns: 2, logger });
    const ran: unknown[] = [];
    const worker = createBullmqWorker({
      ...{ Worker, queueName: 'calls', connection, logger },
      backoff: { initialDelay: 2, maxDelay: 20 },
      on: {
        'call:completed': ({ callId }) => {
          ran.push(callId);
          if (ran.length > 1) throw new Error('the CRM is down');
        },
      },
    });
    const calls = [unique('call'), unique('call')];
    await hand.enqueue(queuedCall(calls[0]!));
    await waitFor(() => ran.length === 1);
    await hand.enqueue(queuedCall(calls[1]!));
    await waitFor(async () => (await queue.getFailedCount()) === 1);
    await hand.ping!();
    expect((await worker.health()).ok).toBe(true);
    expect(await denied()).toEqual([]);
    await worker.close();
    await queue.close();
  });
});
