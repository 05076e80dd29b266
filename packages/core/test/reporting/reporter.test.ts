import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type ErrorInfo,
  memoryStore,
  type Outcome,
  type OutcomeCode,
  type SecretProvider,
  WebhookError,
  type ReportingHooks,
} from '../../src/index.ts';
import { STATUS } from '../../src/internal.ts';
import { responseFor } from '../../src/outcomes.ts';
import { Reporter } from '../../src/report/reporter.ts';
import { createJobProcessor, startPollingWorker } from '../../src/stores.ts';
import { createTestReceiver, deferred, Lines, NOW, SECONDS, STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

describe('the reporter', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** The outcome table, written down once more. */
  const TABLE: [number, string[]][] = [
    [200, ['handled', 'duplicate', 'ignored', 'dead-lettered', 'in-dead-letters']],
    [202, ['queued']],
    [
      401,
      ['missing-header', 'malformed-header', 'timestamp-out-of-tolerance', 'signature-mismatch'],
    ],
    [405, ['method-not-allowed']],
    [408, ['body-timeout']],
    [409, ['replayed']],
    [413, ['body-too-large']],
    [415, ['unsupported-encoding']],
    [422, ['invalid-payload']],
    [500, ['handler-failed', 'body-already-parsed']],
    [
      503,
      [
        'in-progress',
        'deadline',
        'overloaded',
        'store-unavailable',
        'secret-unavailable',
        'shutting-down',
      ],
    ],
  ];

  describe('the outcome table', () => {
    it('has exactly the documented rows', () => {
      const expected = TABLE.flatMap(([status, codes]) => codes.map((code) => [code, status]));
      expect(STATUS).toEqual(Object.fromEntries(expected));
      for (const status of Object.values(STATUS))
        expect([404, 410, 301, 302, 307, 308]).not.toContain(status);
    });

    it.each(Object.keys(STATUS) as OutcomeCode[])(
      'responds to %s with nothing but its code',
      (code) => {
        const outcome: Outcome = {
          outcome: code,
          source: 'webhook',
          status: STATUS[code],
          durationMs: 0,
          error: new WebhookError(code, 'planted'),
        };
        const answer = responseFor(outcome);
        expect(answer).toMatchObject({
          status: STATUS[code],
          body: `{"outcome":"${code}"}`,
          outcome,
        });
        expect(answer.headers).toEqual({
          'content-type': 'application/json',
          'content-length': String(answer.body.length),
          ...(code === 'method-not-allowed' && { allow: 'POST' }),
          ...(code === 'shutting-down' && { connection: 'close' }),
        });
      },
    );
  });

  function setup(onOutcome?: (outcome: Outcome) => void) {
    const reporter = new Reporter({ onOutcome });
    const log = new Lines();
    const report = (code: OutcomeCode, info: object = {}, late = false) =>
      reporter.report(
        performance.now(),
        { source: 'webhook', ...info },
        { outcome: code, error: new WebhookError(code, 'why') },
        log,
        late,
      );
    return { report, lines: log.all, log, reporter };
  }

  describe('Reporter', () => {
    it('logs failures with a link, an ignored event once, and successes not at all', () => {
      const { report, lines, log } = setup();
      for (const code of ['handled', 'duplicate', 'queued'] as const) report(code);
      expect(lines).toEqual([]);
      for (let times = 0; times < 3; times++) report('ignored', { eventName: 'call:moved' });
      expect(lines).toEqual([expect.stringContaining('the event "call:moved"')]);
      log.entries.length = 0;
      report('in-progress', {
        ...{ webhookId: 'id-1', eventName: 'call:started', callId: 'c1', key: 'c1:call:started' },
        attempt: 2,
      });
      expect(log.entries).toEqual([
        {
          level: 'error',
          fields: {
            ...{ outcome: 'in-progress', status: 503, retriedBy: 'service', durationMs: 0 },
            ...{ webhookId: 'id-1', eventName: 'call:started', callId: 'c1', attempt: 2 },
            key: 'c1:call:started',
            docs: 'https://call-webhooks.github.io/call-webhooks/outcomes.html#in-progress',
          },
          message: 'call-webhooks: 503 in-progress: why',
        },
      ]);
      report('dead-lettered');
      expect(lines.at(-1)).toMatch(/^error call-webhooks: 200 dead-lettered/);
    });

    it('logs what strangers can cause once every 10 s, with a count of the rest', () => {
      const { report, lines, log } = setup();
      for (let i = 0; i < 1_000; i++) report('signature-mismatch');
      report('missing-header');
      expect(lines).toHaveLength(2);
      jest.advanceTimersByTime(9_999);
      report('signature-mismatch');
      expect(lines).toHaveLength(2);
      jest.advanceTimersByTime(1);
      report('signature-mismatch');
      expect(lines).toHaveLength(3);
      expect(log.entries[2]?.fields).toMatchObject({ suppressed: 1000 });
      expect(log.entries[2]?.fields).not.toHaveProperty('retriedBy'); // anybody may have sent it
    });

    it('counts the 10 s from the last line', () => {
      const { report, lines } = setup();
      jest.advanceTimersByTime(60_000);
      report('signature-mismatch');
      report('signature-mismatch');
      expect(lines).toHaveLength(1);
    });

    it.each([{}, { tenant: 'acme' }])('logs each failure of an authentic delivery: %j', (info) => {
      const { report, lines } = setup();
      for (let i = 0; i < 20; i++) report('handler-failed', info);
      expect(lines).toHaveLength(20);
    });

    it('logs once every 10 s that tenants send too much, as one could fill the log', () => {
      const { report, log } = setup();
      for (let i = 0; i < 20; i++) report('overloaded', { tenant: 'flood' });
      jest.advanceTimersByTime(10_000);
      report('overloaded', { tenant: 'flood' });
      expect(log.entries).toHaveLength(2);
      expect(log.entries[1]?.fields).toMatchObject({ tenant: 'flood', suppressed: 19 });
    });

    it('logs each delivery that a receiver without tenants is too busy for', () => {
      const { report, lines } = setup();
      for (let i = 0; i < 20; i++) report('overloaded');
      expect(lines).toHaveLength(20);
    });

    it('says how long the request took', () => {
      const { reporter, log } = setup();
      jest.advanceTimersByTime(60_000);
      const startedAt = performance.now();
      jest.advanceTimersByTime(25);
      const result = { outcome: 'handler-failed' } as const;
      const { durationMs } = reporter.report(startedAt, { source: 'webhook' }, result, log);
      expect(durationMs).toBe(25);
      expect(log.entries[0]?.fields).toMatchObject({ durationMs: 25 });
    });

    it('calls onOutcome for every outcome, even in a flood', () => {
      const outcomes: Outcome[] = [];
      const { report } = setup((outcome) => void outcomes.push(outcome));
      for (let i = 0; i < 5; i++) report('signature-mismatch');
      report('handled', { key: 'k' }, true);
      expect(outcomes).toHaveLength(6);
      expect(outcomes[5]).toMatchObject({ outcome: 'handled', key: 'k', late: true });
      expect(outcomes[0]).not.toHaveProperty('late');
      expect(outcomes[0]).not.toHaveProperty('startedAt');
    });

    it('reports no error where there is none', () => {
      const { reporter, log } = setup();
      const outcome = reporter.report(0, { source: 'webhook' }, { outcome: 'handled' }, log);
      expect(outcome).not.toHaveProperty('error');
    });

    it('keeps line breaks and terminal codes from a body out of the log', () => {
      const { report, log } = setup();
      const text = `a\nb\u001b[31m\u2028\u202e${'x'.repeat(1_000)}`;
      report('in-progress', { eventName: text, callId: text, key: text });
      report('in-progress', { callId: 'x'.repeat(1_000), key: 'x'.repeat(1_000) });
      const [none, cut] = ['[redacted]', 'x'.repeat(200)];
      expect(log.entries[0]?.fields).toMatchObject({ eventName: none, callId: none, key: none });
      expect(log.entries[1]?.fields).toMatchObject({ callId: cut, key: cut });
    });

    it('survives hooks that throw or reject, and still writes the line', async () => {
      // A lazy query: its `then` is what sends it. A rejection that nobody handles would end the process.
      const caught = jest.fn((_resolve: unknown, reject: (error: Error) => void) => {
        reject(new Error('hook'));
      });
      const rejected = { then: caught };
      const throwing = () => {
        throw new Error('hook');
      };
      for (const hook of [throwing, () => rejected]) {
        const { report, lines } = setup(hook);
        expect(report('handler-failed').status).toBe(500);
        expect(lines).toHaveLength(1);
      }
      await Promise.resolve();
      expect(caught).toHaveBeenCalledTimes(1);
    });
  });
});

describe('the hooks', () => {
  const boom = new Error('no');
  const on = { 'call:started': () => Promise.reject(boom) };

  /** An `onError`, and what it was called with. */
  function setup() {
    const errors: unknown[] = [];
    const infos: ErrorInfo[] = [];
    const onError = (error: unknown, info: ErrorInfo) => {
      errors.push(error);
      infos.push(info);
    };
    return { errors, infos, onError };
  }

  describe('what onError is told of an error', () => {
    it('names the tenant', async () => {
      const { infos, onError } = setup();
      const secret: SecretProvider = ({ tenant }) => secretOf(tenant);
      await createTenantsReceiver({ secret, on, onError }).send('acme', STARTED);
      expect(infos).toMatchObject([{ tenant: 'acme', callId: 'call-1', attempt: 1 }]);
    });

    it('is only what is known', async () => {
      const { infos, onError } = setup();
      const { send } = createTestReceiver({ secret: () => Promise.reject(boom), onError });
      expect(await send(STARTED)).toBe('secret-unavailable');
      const flags = { lastAttempt: false, late: false, queued: false };
      expect(infos).toStrictEqual([{ code: 'secret-unavailable', source: 'secret', ...flags }]);
    });

    it('says which attempt was the last one', async () => {
      const { infos, onError } = setup();
      const more = { maxAttempts: 3, deadLetter: () => undefined };
      const { send } = createTestReceiver({ on, onError, ...more });
      for (let sent = 0; sent < 3; sent++) await send(STARTED);
      expect(infos.map(({ lastAttempt }) => lastAttempt)).toEqual([false, false, true]);
    });

    it('says whether it happened in a worker', async () => {
      const { infos, onError } = setup();
      const process = createJobProcessor({ on, onError, logger: new Lines() });
      const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
      await process({ webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW, body });
      await createTestReceiver({ on, onError }).send(STARTED);
      expect(infos.map(({ queued }) => queued)).toEqual([true, false]);
    });
  });

  describe('onOutcome', () => {
    it('may be left out: onError is told of no other error for it', async () => {
      const { errors, onError } = setup();
      await createTestReceiver({ on, onError, onOutcome: undefined }).send(STARTED);
      expect(errors).toEqual([boom]);
    });
  });
});

describe('a hook that fails', () => {
  const NAME = 'Ada Lovelace';
  const fail = () => {
    throw new TypeError(`no tracker for ${NAME}`, { cause: new Error(NAME) });
  };
  const reject = () => Promise.reject(new TypeError(`no tracker for ${NAME}`));
  const on = { 'call:started': fail };

  /** The warnings about hooks, apart from the lines of outcomes. */
  const warnings = (lines: string[]) => lines.filter((line) => line.includes('the hook'));

  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it.each<[string, string, ReportingHooks]>([
    ['onError throws', 'onError', { onError: fail, onOutcome: undefined }],
    ['onError rejects', 'onError', { onError: reject, onOutcome: undefined }],
    ['both throw', 'onError', { onError: fail, onOutcome: fail }],
    ['onOutcome throws', 'onOutcome', { onOutcome: fail }],
    ['onOutcome rejects', 'onOutcome', { onOutcome: reject }],
  ])('is told to the logger at most once in 10 s: %s', async (_how, hook, hooks) => {
    const { send, lines } = createTestReceiver({ on, ...hooks });
    const other = createTestReceiver({ on, ...hooks });
    for (let sent = 0; sent < 3; sent++) expect(await send(STARTED)).toBe('handler-failed');
    expect(warnings(lines)).toHaveLength(1);
    expect(warnings(lines)[0]).toMatch(new RegExp(`^warn .*the hook ${hook} failed: TypeError: `));
    expect(warnings(lines).join()).not.toContain(NAME);
    await other.send(STARTED);
    expect(warnings(other.lines)).toHaveLength(1);
    jest.advanceTimersByTime(9_999);
    await send(STARTED);
    expect(warnings(lines)).toHaveLength(1);
    jest.advanceTimersByTime(1);
    await send(STARTED);
    expect(warnings(lines)).toHaveLength(2);
    expect(warnings(lines)[1]).toMatch(/suppressed: [3-9]/);
  });

  it('is told with a link, and with no count while nothing was left out', async () => {
    const logger = new Lines();
    const { send } = createTestReceiver({ on, onError: fail, onOutcome: undefined, logger });
    await send(STARTED);
    const [warning] = logger.entries.filter(({ message }) => message.includes('the hook'));
    expect(warning?.fields).toMatchObject({
      hook: 'onError',
      docs: 'https://call-webhooks.github.io/call-webhooks/observability.html#errors',
    });
    expect(warning?.fields).not.toHaveProperty('suppressed');
  });

  it('is told of in a worker', async () => {
    const logger = new Lines();
    const process = createJobProcessor({ on, onError: reject, logger });
    const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
    const job = { webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW, body };
    for (let runs = 0; runs < 2; runs++) await process(job);
    await Promise.resolve();
    expect(warnings(logger.all)).toHaveLength(1);
  });

  it('changes nothing if the logger fails as well', async () => {
    const logger = { warn: fail, error: fail };
    const { send } = createTestReceiver({ on, onError: fail, onOutcome: fail, logger });
    expect(await send(STARTED)).toBe('handler-failed');
  });
});

describe('hooks of stores and workers', () => {
  /** What an asynchronous hook returns. Node ends the process if nobody handles it. */
  function rejection() {
    const handled = jest.fn((_resolve: unknown, reject: (error: Error) => void) => {
      reject(new Error('metrics are down'));
    });
    return { promise: { then: handled } as never, handled };
  }

  it('onEvicted of a memory store may reject', async () => {
    const { promise, handled } = rejection();
    const store = memoryStore({ maxEntries: 1, onEvicted: () => promise });
    for (const webhookId of ['a', 'b'])
      await store.admit({
        webhookId,
        token: webhookId,
        key: undefined,
        leaseMs: 60_000,
        replayUntil: Date.now() + 300_000,
      });
    expect(handled).toHaveBeenCalledTimes(1);
  });

  it('onError of a polling worker may reject', async () => {
    const { promise, handled } = rejection();
    const failed = deferred();
    const worker = startPollingWorker({
      concurrency: 1,
      pollEvery: 60_000,
      take: () => Promise.reject(new Error('away')),
      onError() {
        failed.resolve();
        return promise;
      },
    });
    await failed.promise;
    await worker.close();
    expect(handled).toHaveBeenCalledTimes(1);
  });
});
