import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createJobProcessor } from '../../src/stores.ts';
import type { ReportingHooks } from '../../src/internal.ts';
import { createTestReceiver, Lines, NOW, SECONDS, STARTED } from '../support.ts';

const NAME = 'Ada Lovelace';
const fail = () => {
  throw new TypeError(`no tracker for ${NAME}`, { cause: new Error(NAME) });
};
const reject = () => Promise.reject(new TypeError(`no tracker for ${NAME}`));
const on = { 'call:started': fail };

/** The warnings about hooks, apart from the lines of outcomes. */
const warnings = (lines: string[]) => lines.filter((line) => line.includes('The hook'));

describe('a hook that fails', () => {
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
    expect(warnings(lines)[0]).toMatch(new RegExp(`^warn .*The hook ${hook} failed: TypeError: `));
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
    const [warning] = logger.entries.filter(({ message }) => message.includes('The hook'));
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
