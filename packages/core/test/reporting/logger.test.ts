import { Console } from 'node:console';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, jest } from '@jest/globals';
import fastify from 'fastify';
import {
  createReceiver,
  generateSecret,
  type Logger,
  type ReceiverOptions,
  sign,
  WebhookError,
} from '../../src/index.ts';
import { consoleLine, handlerLogger, safeLogger } from '../../src/report/logger.ts';
import { bytes, createTestReceiver, Lines, STARTED } from '../support.ts';

describe('the logger', () => {
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

  it('gives an error to a logger that takes the message first as fields that JSON keeps', () => {
    const write = jest.fn<(message: string, fields: object) => void>();
    const messageFirst = { log: () => undefined, warn: write, error: write };
    const err = new TypeError('no');
    safeLogger(messageFirst as unknown as Logger).error({ a: 1, err }, 'a line');
    const kept = JSON.parse(JSON.stringify(write.mock.calls)) as unknown;
    const plain = { name: 'TypeError', message: 'no', stack: err.stack };
    expect(kept).toEqual([['a line', { a: 1, err: plain }]]);
  });

  it('writes readable lines to the console of a runtime that has few methods', () => {
    const warn = jest.fn();
    const small = jest.replaceProperty(globalThis, 'console', {
      warn,
    } as unknown as typeof console);
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
});

describe('consoleLine', () => {
  it('writes the message, then the fields, then the link', () => {
    expect(consoleLine({ docs: 'https://a.example', n: 3, ok: true, no: undefined }, 'saved')).toBe(
      'saved n=3 ok=true See https://a.example',
    );
    expect(consoleLine({}, 'saved')).toBe('saved');
    expect(consoleLine({ n: 3 }, '')).toBe('n=3');
  });

  it('quotes what is not one word, and keeps line breaks and terminal codes out', () => {
    const line = consoleLine({ a: 'x y', b: 'a\nb\u001b[31m\u009b\u2028é', c: '' }, 'm');
    expect(line).toBe('m a="x y" b="a\\nb\\u001b[31m\\u009b\\u2028é" c=""');
  });

  it('writes objects as JSON, and survives those that cannot be', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(consoleLine({ a: { b: [1] }, cyclic, big: 1n, none: null, fn: Math.max }, 'm')).toMatch(
      /^m a=\{"b":\[1\]\} cyclic=\[object\] big=1 none=null fn=function max/,
    );
    expect(consoleLine({ hidden: { toJSON: () => undefined }, n: 3 }, 'm')).toBe('m hidden= n=3');
  });

  it('writes an error in any field, which JSON would not show', () => {
    expect(consoleLine({ reason: new TypeError('no route') }, 'away')).toBe(
      'away reason="TypeError: no route"',
    );
  });

  it('writes an error whose stack has no frames', () => {
    const err = Object.assign(new Error('no'), { stack: 'Error: no' });
    expect(consoleLine({ err, n: 1 }, 'failed')).toBe('failed: Error: no n=1');
  });

  it('leaves out status and outcome where the message starts with them', () => {
    const fields = { status: 500, outcome: 'handler-failed' };
    expect(consoleLine(fields, 'x: 500 handler-failed: no')).toBe('x: 500 handler-failed: no');
    expect(consoleLine(fields, 'no')).toBe('no status=500 outcome=handler-failed');
  });

  it('adds an error that the message does not have, and its frames below', () => {
    const err = new TypeError('fetch failed');
    const [first, second] = consoleLine({ err, n: 1 }, 'could not save').split('\n');
    expect(first).toBe('could not save: TypeError: fetch failed n=1');
    expect(second).toMatch(/^ +at .*logger\.test\.ts/);
    expect(consoleLine({ err, n: 1 }, 'no: fetch failed')).toMatch(/^no: fetch failed n=1\n/);
    expect(consoleLine({ err }, '')).toMatch(/^TypeError: fetch failed\n/);
    const wrapped = new Error('no', { cause: new Error('why\nthen') });
    expect(consoleLine({ err: wrapped }, 'no')).toMatch(
      /^no\n +at [^]*\n {2}caused by Error: why then\n +at /,
    );
    const cyclic = new Error('no');
    cyclic.cause = cyclic;
    expect(consoleLine({ err: cyclic }, 'no').split('caused by')).toHaveLength(6);
    expect(consoleLine({ err: 'a text' }, 'no')).toBe('no: "a text"');
    expect(consoleLine({ err: Object.assign(new Error('e'), { stack: undefined }) }, 'no')).toBe(
      'no: Error: e',
    );
  });
});

/** Sends one body, and gives its log line. */
async function lineOf(options: Partial<ReceiverOptions<never, never>>, body: unknown) {
  const logger = new Lines();
  const { send } = createTestReceiver({ ...options, logger });
  await send(body);
  const [entry, ...more] = logger.entries;
  if (!entry || more.length > 0) throw new Error('not one line');
  return { ...entry, text: logger.all.join() };
}

describe('the line of a failure', () => {
  it.each(['standard', 'off'] as const)(
    'never quotes a body that cannot be parsed, as the parser does (redact: %s)',
    async (redact) => {
      const { message, fields, text } = await lineOf({ redact }, bytes('Ada Lovelace'));
      expect(message).toBe('call-webhooks: 422 invalid-payload: The body is not valid JSON.');
      expect(fields).not.toHaveProperty('err');
      expect(text).not.toContain('Ada');
    },
  );

  it('has an error of this package in its message alone, and other errors in `err` too', async () => {
    const throwing = (error: Error) => ({ secret: () => Promise.reject(error) });
    const own = await lineOf(throwing(new WebhookError('replayed', 'seen before')), STARTED);
    expect(own.message).toContain('WebhookError: seen before');
    expect(own.fields).not.toHaveProperty('err');
    const other = await lineOf(throwing(new Error('seen before')), STARTED);
    expect(other.message).toContain('Error: seen before');
    expect(other.fields['err']).toMatchObject({ message: 'seen before' });
  });

  it('has an error of this package in `err` if a handler throws it, redacted as any other', async () => {
    const cause = new Error('order 7 for ada@example.com');
    const failing = () => Promise.reject(new WebhookError('replayed', 'seen before', { cause }));
    const on = { 'call:started': failing };
    const standard = await lineOf({ on }, STARTED);
    expect(standard.message).toContain(
      'WebhookError: seen before [replayed]; cause: Error: order 7 for [redacted]',
    );
    expect(standard.fields['err']).toMatchObject({ cause: { message: 'order 7 for [redacted]' } });
    const own = await lineOf({ on, redact: () => 'mine' }, STARTED);
    expect(own.message).toContain('The handler failed: mine: mine');
  });
});
