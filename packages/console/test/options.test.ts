import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { consoleStats, createConsole } from '../src/index.ts';
import { open } from './support.ts';

const started = (options: object) => () => {
  const { receiver } = open();
  return createConsole({ receiver, authorize: () => true, ...options });
};
const client = { baseUrl: 'https://api.test', calls: {} };

describe('createConsole fails at once', () => {
  it.each<[string, object, RegExp]>([
    ['a reconcile without a client', { reconcile: {} }, /reconcile: client: it is missing/],
    ['a client in place of { client }', { reconcile: client }, /there is no option "baseUrl"/],
    [
      'a concurrency that is out of range',
      { reconcile: { client, concurrency: 0 } },
      /concurrency: expected a whole number from 1 to 100/,
    ],
    [
      'an option that the console sets',
      { reconcile: { client, since: new Date() } },
      /there is no option "since"/,
    ],
    ['an unknown option of redrive', { redrive: { all: true } }, /there is no option "all"/],
    ['statistics of nothing', { stats: {} }, /stats: expected an object with flush/],
  ])('with %s', (_what, options, problem) => {
    expect(started(options)).toThrow(problem);
  });

  it('with the handler of an adapter, and says where its receiver is', async () => {
    const hook = callWebhooks({ secret: open().secret });
    expect(started({ receiver: hook })).toThrow(/Pass .* receiver: hook\.receiver/);
    expect(started({ receiver: { deliver: () => undefined } })).toThrow(/object with health/);
    await started({ receiver: hook.receiver, reconcile: { client } })().close();
    await hook.receiver.close();
  });
});

describe('consoleStats', () => {
  it.each<[string, object | undefined]>([
    ['nothing', undefined],
    ['no option', {}],
    ['a store that is not set', { store: undefined }],
    ['a name alone', { name: 'workers' }],
  ])('with %s fails at once: no process would share anything', (_what, options) => {
    expect(() => consoleStats(options as never)).toThrow(/consoleStats: store is missing/);
  });

  it('takes a store, or a capacity for this process', async () => {
    await consoleStats({ capacity: 5 }).close();
    await consoleStats({ store: memoryStore() }).close();
  });
});
