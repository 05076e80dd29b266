import { expect, test } from '@jest/globals';
import { bossQueues, bullQueues, hasKeys, type RedisSend } from '../src/store/found-queues.ts';

// Which queues a server has, whoever else has keys or tables in it.

/** A server of Redis whose keys come page by page; of a hash it knows the field `version`. */
function redis(pages: readonly (readonly string[])[], versions: Record<string, string>) {
  const asked: string[][] = [];
  const send: RedisSend = async ([name, ...args]) => {
    asked.push([name, ...args]);
    if (name === 'SCAN') {
      const at = Number(args[0]);
      return [at + 1 < pages.length ? String(at + 1) : '0', [...(pages[at] ?? [])]];
    }
    const version = versions[args[0] ?? ''];
    if (version === 'WRONGTYPE') throw new Error('WRONGTYPE');
    return version ?? null;
  };
  return { send, asked };
}

test('of BullMQ: those of each page and each server, by prefix and name; other keys are none', async () => {
  const one = redis(
    [['shop:orders:meta', 'bull:calls:meta'], [], ['a:text:meta', 'a:hash:meta', 'meta']],
    {
      ...{ 'shop:orders:meta': 'bullmq:5.1.0', 'bull:calls:meta': 'bullmq-pro:7.0.0' },
      ...{ 'a:text:meta': 'WRONGTYPE', 'a:hash:meta': '2.0' },
    },
  );
  const other = redis([['my:own:bull:mails:meta']], { 'my:own:bull:mails:meta': 'bullmq:4.0.0' });
  expect(await bullQueues([one.send, other.send])).toEqual([
    { prefix: 'bull', name: 'calls' },
    { prefix: 'my:own:bull', name: 'mails' },
    { prefix: 'shop', name: 'orders' },
  ]);
  expect(one.asked.filter(([name]) => name === 'SCAN')).toEqual([
    ...['0', '1', '2'].map((cursor) => ['SCAN', cursor, 'MATCH', '*:meta', 'COUNT', '1000']),
  ]);
  expect(await bullQueues([redis([[]], {}).send])).toEqual([]);
});

test('a key is found on the last page of the last server, and in none of an empty one', async () => {
  const [empty, full] = [redis([[], []], {}), redis([[], [], ['call-webhooks:x']], {})];
  expect(await hasKeys([empty.send], 'call-webhooks:*')).toBe(false);
  expect(await hasKeys([empty.send, full.send], 'call-webhooks:*')).toBe(true);
  expect(full.asked.at(-1)).toEqual(['SCAN', '2', 'MATCH', 'call-webhooks:*', 'COUNT', '1000']);
});

test('keys that never end are looked at no further than a million', async () => {
  let calls = 0;
  const endless: RedisSend = async () => [String(++calls), []];
  expect(await hasKeys([endless], 'x:*')).toBe(false);
  expect(calls).toBe(1_000);
});

test('of pg-boss: those of all schemas, without what pg-boss and workers keep for themselves', async () => {
  const tables: Record<string, string[] | undefined> = {
    // The dead jobs of `calls` are no queue of their own, but nothing says so of `left-dead`.
    pgboss: ['calls', 'calls-dead', 'left-dead', '__pgboss__send-it'],
    '"My Shop"': ['orders'],
    shop: undefined, // belongs to another user
  };
  const client = {
    query: async (text: string) => {
      if (text.includes('pg_namespace'))
        return { rows: Object.keys(tables).map((name) => ({ name })) };
      const [, schema = ''] = /FROM (.+)\.queue$/.exec(text) ?? [];
      const names = tables[schema];
      if (!names) throw new Error('permission denied');
      return { rows: names.map((name) => ({ name })) };
    },
  };
  expect(await bossQueues(client as never)).toEqual([
    { prefix: '"My Shop"', name: 'orders' },
    { prefix: 'pgboss', name: 'calls' },
    { prefix: 'pgboss', name: 'left-dead' },
  ]);
});
