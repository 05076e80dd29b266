import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import type { AttentionReport } from '@call-webhooks/opentelemetry';
import { diag } from '@opentelemetry/api';
import { type Sdk, startSdk } from './sdk.ts';

const ignore = () => undefined;
const QUIET = { error: ignore, warn: ignore, info: ignore, debug: ignore, verbose: ignore };

describe('what needs attention', () => {
  let sdk: Sdk;
  afterEach(() => sdk.close());

  const NAME = 'call_webhooks.attention';
  const calm = { attention: [], events: [{ eventName: 'call:started' }] };
  const failing = {
    ...calm,
    attention: [{ kind: 'failing', eventName: 'call:completed', urgent: true }],
  };
  const ones = async () =>
    (await sdk.points(NAME))
      .filter(({ value }) => value === 1)
      .map(({ attributes }) => Object.values(attributes));

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });

  it('is 1 by kind and event, and 0 for all that is calm', async () => {
    let now: AttentionReport = calm;
    sdk = startSdk({ status: () => Promise.resolve(now) });
    const points = await sdk.points(NAME);
    expect(points).toHaveLength(8 * 2 * 2); // of each kind: any event and call:started, urgent or not
    expect(points.every(({ value }) => value === 0)).toBe(true);
    now = {
      ...calm,
      attention: [
        { kind: 'store', urgent: true },
        { kind: 'failing', eventName: 'call:completed', urgent: false },
        { kind: 'failing', eventName: 'call:completed', urgent: true }, // of another tenant
      ],
    };
    jest.advanceTimersByTime(60_000);
    expect(await ones()).toEqual([
      ['store', 'any', true],
      ['failing', 'call:completed', true],
      ['failing', 'call:completed', false],
    ]);
    now = calm;
    jest.advanceTimersByTime(60_000);
    expect(await ones()).toEqual([]);
    expect(await sdk.points(NAME)).toHaveLength(8 * 3 * 2);
  });

  it('is asked for at most once a minute', async () => {
    const status = jest.fn(() => Promise.resolve(failing));
    sdk = startSdk({ status });
    for (let scrape = 0; scrape < 12; scrape++) {
      expect(await ones()).toHaveLength(1);
      jest.advanceTimersByTime(10_000);
    }
    expect(status).toHaveBeenCalledTimes(2);
  });

  it('has few names of events, however many there are', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `custom-${String(at)}`);
    sdk = startSdk({
      status: () =>
        Promise.resolve({
          events: names.map((eventName) => ({ eventName })),
          attention: names.map((eventName) => ({ kind: 'silent', eventName, urgent: false })),
        }),
    });
    const points = await sdk.points(NAME);
    const labels = new Set(points.map(({ attributes }) => attributes['call_webhooks.event']));
    expect(labels.size).toBe(22);
    expect(points).toHaveLength(8 * 22 * 2);
    expect(await ones()).toContainEqual(['silent', 'other', false]);
  });

  it('stays as it was while the store takes long to answer, and is told then', async () => {
    const late = deferred<AttentionReport>();
    const answers = [Promise.resolve(failing), late.promise];
    sdk = startSdk({ status: () => answers.shift()! });
    expect(await ones()).toHaveLength(1);
    jest.advanceTimersByTime(60_000);
    const scraped = ones();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await scraped).toHaveLength(1);
    late.resolve(calm);
    expect(await ones()).toEqual([]);
  });

  it('tells what is known, such as that the store is down, while the rest is unknown', async () => {
    const down = {
      attention: [{ kind: 'store', urgent: true }],
      events: [],
      unknown: 'The store does not answer.',
    };
    const answers = [failing, down];
    sdk = startSdk({ status: () => Promise.resolve(answers.shift()!) });
    await ones();
    jest.advanceTimersByTime(60_000);
    expect(await ones()).toEqual([
      ['store', 'any', true],
      ['failing', 'call:completed', true],
      ['unknown', 'any', false],
    ]);
  });

  it('has no value before the first answer', async () => {
    const first = deferred<AttentionReport>();
    sdk = startSdk({ status: () => first.promise });
    const scraped = sdk.points(NAME);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await scraped).toEqual([]);
    first.resolve(failing);
    expect(await ones()).toHaveLength(1);
  });

  it.each([
    ['it cannot be told', () => Promise.resolve({ ...calm, unknown: 'The store has no log.' })],
    ['asking fails', () => Promise.reject(new Error('The store has no log.'))],
    [
      'asking throws',
      (): Promise<AttentionReport> => {
        throw new Error('The store has no log.');
      },
    ],
  ])('is unknown when %s, and what was known stays', async (_title, then) => {
    const warn = jest.fn();
    diag.setLogger({ ...QUIET, warn });
    const answers = [() => Promise.resolve(failing), then, () => Promise.resolve(calm)];
    sdk = startSdk({ status: () => answers.shift()!() });
    const known = ['failing', 'call:completed', true];
    expect(await ones()).toEqual([known]);
    jest.advanceTimersByTime(60_000);
    expect(await ones()).toEqual([known, ['unknown', 'any', false]]);
    expect(String(warn.mock.calls)).toContain('The store has no log.');
    jest.advanceTimersByTime(60_000);
    expect(await ones()).toEqual([]);
    diag.disable();
  });

  it('is not asked for any more once the instrumentation is closed', async () => {
    const status = jest.fn(() => Promise.resolve(failing));
    sdk = startSdk({ status });
    expect(await sdk.points(NAME)).not.toEqual([]);
    sdk.telemetry.close();
    jest.advanceTimersByTime(10 * 60_000);
    await sdk.points(NAME);
    expect(status).toHaveBeenCalledTimes(1);
  });
});
