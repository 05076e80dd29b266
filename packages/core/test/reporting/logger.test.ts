import fastify from 'fastify';
import { expect, it, jest } from '@jest/globals';
import { Console } from 'node:console';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createReceiver, generateSecret, type Logger, sign } from '../../src/index.ts';
import { handlerLogger, safeLogger } from '../../src/report/logger.ts';
import { Lines } from '../support.ts';

const broken = () => {
  throw new Error('the log disk is full');
};

it('passes fields and messages on, and drops what the logger throws', () => {
  const warn = jest.fn();
  const half = safeLogger({ warn, error: broken });
  half.warn({ a: 1 }, 'a');
  half.error({}, 'b');
  half.info({}, 'c'); // it has none
  expect(warn.mock.calls).toEqual([[{ a: 1 }, 'a']]);
});

it('passes lines of each level on to the method of that name', () => {
  const logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const log = safeLogger(logger);
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    log[level]({ a: 1 }, `a line of ${level}`);
    expect(logger[level].mock.calls).toEqual([[{ a: 1 }, `a line of ${level}`]]);
  }
});

it('writes readable lines to the console of a runtime that has few methods', () => {
  const warn = jest.fn();
  const small = jest.replaceProperty(globalThis, 'console', { warn } as unknown as typeof console);
  try {
    safeLogger(globalThis.console).warn({ rows: 3 }, 'too slow');
  } finally {
    small.restore();
  }
  expect(warn.mock.calls).toEqual([['too slow rows=3']]);
});

it('writes readable lines to a console', async () => {
  const stream = new PassThrough();
  const log = safeLogger(new Console(stream, stream));
  log.warn({ callId: 'c1', name: 'Ada Lovelace', docs: 'https://example.com' }, 'too slow');
  stream.end();
  expect(await text(stream)).toBe(
    'too slow callId=c1 name="Ada Lovelace" See https://example.com\n',
  );
});

it('gives handlers the logger of their framework as it is', () => {
  const { log } = fastify({ logger: { level: 'silent' } });
  expect(handlerLogger(log)).toBe(log);
});

it('gives handlers all four methods, with fields and without, whatever the logger has', () => {
  const lines = new Lines();
  const log = handlerLogger(lines);
  log.debug('not kept');
  log.info({ a: 1 }, 'not kept');
  log.warn('a message alone');
  log.error({ a: 1 }, 'with fields');
  log.error({ a: 2 });
  expect(lines.entries).toEqual([
    { level: 'warn', fields: {}, message: 'a message alone' },
    { level: 'error', fields: { a: 1 }, message: 'with fields' },
    { level: 'error', fields: { a: 2 }, message: '' },
  ]);
  expect(handlerLogger(lines)).toBe(log);
});

it('gives handlers everything else that their logger has', () => {
  class Audit extends Lines {
    readonly #trail: string[] = [];
    audit(what: string) {
      return this.#trail.push(what);
    }
  }
  const log = handlerLogger(new Audit()) as unknown as Audit;
  expect([log.audit('a'), log.audit('b')]).toEqual([1, 2]);
});

it('gives handlers a console that takes fields', async () => {
  const stream = new PassThrough();
  const log = handlerLogger(new Console(stream, stream));
  log.info('started');
  log.info({ rows: 3 }, 'saved');
  stream.end();
  expect(await text(stream)).toBe('started\nsaved rows=3\n');
});

it('a broken logger neither changes the response nor keeps the lease', async () => {
  const secret = generateSecret();
  let runs = 0;
  const logger: Logger = { warn: broken, error: broken };
  const receiver = createReceiver({
    secret,
    maxAttempts: 1,
    logger,
    deadLetter: broken,
    on: {
      'call:completed': () => {
        runs += 1;
        throw new Error('poison');
      },
    },
  });
  const body = new TextEncoder().encode('{"eventName":"call:completed","callId":"c1"}');
  const post = async () => receiver.receive({ headers: await sign({ secret, body }), body });
  expect((await post()).outcome.outcome).toBe('handler-failed');
  expect((await post()).outcome.outcome).toBe('handler-failed');
  expect(runs).toBe(2); // so the lease of the first was released
});
