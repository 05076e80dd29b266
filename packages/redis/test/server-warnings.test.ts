import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { deadLetterWarning } from '../src/dead-letter-warning.ts';
import { errorLog } from '../src/error-log.ts';
import { evictionWarning } from '../src/eviction-warning.ts';
import { persistenceWarning } from '../src/persistence-warning.ts';

/** Lets promises that are settled run their callbacks. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** What is logged when the server gives this reply; asked three times. */
async function logged(warning: typeof evictionWarning, reply: unknown) {
  const logger = collectingLogger();
  const evaluated = jest.fn((_script: string, _keys: string[], _args: string[]) =>
    Promise.resolve(reply),
  );
  const question = warning({ evalsha: evaluated, eval: evaluated }, logger);
  for (let i = 0; i < 3; i++) {
    question.check();
    await settled();
  }
  expect(evaluated.mock.calls).toEqual([[expect.stringContaining("'INFO'"), [], []]]);
  return logger.entries;
}

const INFO = '# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:POLICY\r\nused_memory:5\r\n';

describe('a store warns if its server may drop leases and webhook ids', () => {
  it.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])(
    'with the policy %s',
    async (policy) => {
      expect(await logged(evictionWarning, INFO.replace('POLICY', policy))).toEqual([
        {
          level: 'warn',
          message: `call-webhooks: the Redis server's maxmemory-policy is ${policy}. When its memory is full, it drops leases and webhook ids, and events may run twice. Set it to noeviction.`,
          fields: { policy, docs: expect.stringMatching(/\/stores\.html#redis$/) },
        },
      ]);
    },
  );

  it.each([
    ['keeps all', INFO.replace('POLICY', 'noeviction')],
    ['does not tell', ''],
  ])('not if it %s', async (_name, reply) => {
    expect(await logged(evictionWarning, reply)).toEqual([]);
  });
});

describe('dead letters warn if their server could lose them', () => {
  const info = (policy: string, aof: number) =>
    `${INFO.replace('POLICY', policy)}# Persistence\r\naof_enabled:${String(aof)}\r\n`;

  it.each([
    ['allkeys-lru', 1, 'drops any keys when its memory is full'],
    ['noeviction', 0, 'has appendonly no and forgets at a restart'],
    [
      'allkeys-lru',
      0,
      'drops any keys when its memory is full, and has appendonly no and forgets at a restart',
    ],
  ])('policy %s, append-only file %d', async (policy, aof, problem) => {
    expect(await logged(deadLetterWarning, info(policy, aof))).toEqual([
      {
        level: 'warn',
        message: `call-webhooks: the Redis server of the dead letters ${problem}. Dead letters could be lost.`,
        fields: { docs: expect.stringMatching(/\/stores\.html#redis$/) },
      },
    ]);
  });

  it.each([
    ['keeps all', info('noeviction', 1)],
    ['drops only keys with a time to live', info('volatile-lru', 1)],
    ['does not tell', ''],
  ])('not if it %s', async (_name, reply) => {
    expect(await logged(deadLetterWarning, reply)).toEqual([]);
  });
});

describe('a queue warns if its server keeps no append-only file', () => {
  /** A client of ioredis whose server gives this reply. */
  const replying = (reply: () => Promise<unknown>) => ({ config: jest.fn(reply) });
  const no = () => replying(() => Promise.resolve(['appendonly', 'no']));
  const refusal = (name: string) =>
    replying(() => Promise.reject(Object.assign(new Error('NOPERM'), { name })));
  const WARNING = {
    level: 'warn',
    message:
      'call-webhooks: the Redis server of the queue has appendonly no. It loses acknowledged deliveries when it restarts. Set it to yes.',
    fields: { docs: expect.stringMatching(/\/queues\.html#what-they-promise$/) },
  };

  /** Asks twice. */
  async function warnings(queue: Parameters<typeof persistenceWarning>[0]) {
    const logger = collectingLogger();
    const question = persistenceWarning(queue, logger);
    for (let i = 0; i < 2; i++) {
      question.check();
      await settled();
    }
    return logger.entries;
  }

  it.each<[string, (client: object) => object]>([
    ['version 5', (client) => ({ client: Promise.resolve(client) })],
    ['version 6', (client) => ({ getBackend: () => ({ client: Promise.resolve(client) }) })],
  ])('which it asks over the client of BullMQ, %s', async (_version, queueWith) => {
    const client = no();
    expect(await warnings(queueWith(client))).toEqual([WARNING]);
    expect(client.config.mock.calls).toEqual([['GET', 'appendonly']]);
  });

  it.each<[string, unknown]>([
    ['keeps one', ['appendonly', 'yes']],
    ['gives an empty reply', []],
    ['gives a reply of another shape', { appendonly: 'no' }],
    ['gives no reply', null],
  ])('not if it %s', async (_name, reply) => {
    const client = replying(() => Promise.resolve(reply));
    expect(await warnings({ client })).toEqual([]);
    expect(client.config).toHaveBeenCalledTimes(1);
  });

  it('not if the server refuses the question, and does not ask again', async () => {
    const client = refusal('ReplyError');
    expect(await warnings({ client })).toEqual([]);
    expect(client.config).toHaveBeenCalledTimes(1);
  });

  it('and asks again if there was no answer', async () => {
    const client = no();
    client.config.mockRejectedValueOnce(new Error('Connection is closed.'));
    expect(await warnings({ client })).toEqual([WARNING]);
  });

  it.each<[string, unknown]>([
    ['no backend', undefined],
    ['no client', {}],
    ['a client of another kind', { client: {} }],
  ])('not if the queue has %s, and does not ask again', async (_name, backend) => {
    const getBackend = jest.fn(() => backend);
    expect(await warnings({ getBackend })).toEqual([]);
    expect(getBackend).toHaveBeenCalledTimes(1);
  });
});

describe('the errors of a worker', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('logs one of the errors of a worker every ten seconds: BullMQ emits one for each attempt to connect', () => {
    const logger = collectingLogger();
    const log = errorLog(logger);
    const error = (message: string) => {
      log(new Error(message));
    };
    error('the first');
    jest.advanceTimersByTime(9_999);
    error('too early');
    jest.advanceTimersByTime(1);
    error('the second');
    expect(logger.entries).toEqual(
      ['the first', 'the second'].map((message) => ({
        level: 'warn',
        message: `call-webhooks: BullMQ's worker: Error: ${message}`,
        fields: {
          err: expect.objectContaining({ message }),
          docs: expect.stringMatching(/\/queues\.html#bullmq$/),
        },
      })),
    );
  });

  it('redacts what it logs', () => {
    const logger = collectingLogger();
    errorLog(logger, (text) => text.replace('hunter2', '***'))(new Error('AUTH hunter2'));
    expect(logger.lines.join()).toContain('AUTH ***');
    expect(logger.lines.join()).not.toContain('hunter2');
  });
});
