import { afterEach } from '@jest/globals';
import { systemClock } from '@call-webhooks/client';
import { callBody, collectingLogger, recordingBody } from '@call-webhooks/contract-tests';
import {
  createReceiver,
  generateSecret,
  memoryDeadLetters,
  memoryStore,
  sign,
  type ReceiverOptions,
} from '@call-webhooks/core';
import type { LogProcess, OutcomeLog, OutcomeRow } from '@call-webhooks/core/stores';
import { createConsole, type ConsoleOptions } from '../src/index.ts';
import { resultOf } from '../src/results.ts';

/** What a test says of its console. `authorize` lets Ada in by default. */
export type Options = Partial<ConsoleOptions> & { receiving?: Partial<ReceiverOptions> };

/** The headers of a change that the console's own page sends. */
export const OWN_PAGE = {
  ...{ 'sec-fetch-site': 'same-origin', origin: 'https://ops.test' },
  'content-type': 'application/json',
};
export const BASE = 'https://ops.test/ops/webhooks';
export const NOW = Date.UTC(2026, 0, 31, 12);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Closed after the test. */
export const closeLater = (close: () => unknown): void => void closing.push(close);

/** Handlers that always fail. */
export const failing = {
  'call:completed': () => {
    throw new Error('the CRM is down');
  },
};

/** Set while `wrote` writes: what a test writes to the log was written when its process says. */
let writingAt: number | undefined;

export const storeWithClock = (now: () => number) => memoryStore({ now: () => writingAt ?? now() });

/** A receiver and its console, which is closed after the test. */
export function open({ receiving = {}, ...options }: Options = {}) {
  const clock = { now: NOW };
  const now = () => clock.now;
  const secret = generateSecret();
  const logger = collectingLogger();
  const deadLetters = memoryDeadLetters();
  const store = receiving.store ?? storeWithClock((options.clock ?? { now }).now);
  const receiver = createReceiver({
    secret: [{ id: 'blue', secret }],
    on: { 'call:completed': () => undefined, 'call:started': () => undefined },
    logger,
    ...receiving,
    store,
    deadLetter: deadLetters,
  });
  const console = createConsole({
    receiver,
    deadLetters,
    authorize: () => ({ name: 'Ada' }),
    path: '/ops/webhooks',
    logger,
    clock: { ...systemClock, now },
    ...options,
  });
  closeLater(() => receiver.close({ graceMs: 0 }));
  closeLater(() => console.close());

  const ask = (path: string, init: RequestInit = {}) =>
    console.fetch(new Request(`${BASE}${path}`, init));
  const get = async <T>(path: string): Promise<T> => (await ask(path)).json() as Promise<T>;
  const send = (path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
    ask(path, {
      method: 'POST',
      headers: { ...OWN_PAGE, ...headers },
      body: JSON.stringify(body),
    });
  const post = async <T>(path: string, body: unknown = {}): Promise<T> =>
    (await send(path, body)).json() as Promise<T>;
  const deliver = async (body: string) => {
    const bytes = new TextEncoder().encode(body);
    const headers = await sign({ secret, body: bytes });
    return (await receiver.receive({ method: 'POST', headers, body: bytes })).outcome.outcome;
  };
  const log = store.log as OutcomeLog;
  return {
    clock,
    secret,
    logger,
    store,
    deadLetters,
    receiver,
    console,
    ask,
    get,
    send,
    post,
    deliver,
    log,
  };
}

/** A console with one dead letter. */
export async function withLetter(options: Options = {}) {
  const opened = open({ receiving: { on: failing, maxAttempts: 1 }, ...options });
  await opened.deliver(callBody('c1', 'call:completed', { recipientName: 'Grace Hopper' }));
  const { letters } = await opened.deadLetters.list();
  return { ...opened, id: letters[0]?.id ?? '' };
}

export const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

const PROCESS = {
  id: 'p1',
  host: 'host-1',
  pid: 11,
  startedAt: NOW - 3_600_000,
  at: NOW,
  inFlight: 0,
};
type Row = Partial<OutcomeRow> & Pick<OutcomeRow, 'outcome'>;

/**
 * Writes to a log as a process does.
 * @param more what is other than usual of the process, marks, and more counters of the minute and of the ten
 *   minutes of the first row
 */
export async function wrote(
  log: OutcomeLog,
  rows: readonly Row[],
  {
    counts: more = {},
    times = {},
    arrivals = {},
    marks = {},
    ...process
  }: Partial<LogProcess> & {
    counts?: Record<string, number>;
    times?: Record<string, number>;
    arrivals?: Record<string, number>;
    marks?: Record<string, number>;
  } = {},
): Promise<void> {
  const own = { ...PROCESS, ...process };
  const whole = rows.map((row): OutcomeRow => {
    return { at: NOW, process: own.id, source: 'webhook', durationMs: 5, ...row };
  });
  const counts: Record<number, Record<string, number>> = {};
  const minuteOf = (at: number) => (counts[Math.floor(at / 60_000)] ??= {});
  for (const { at, source, outcome, secretId, eventName = '' } of whole)
    for (const name of [
      `outcome/${source}/${outcome}/${eventName}`,
      ...(secretId ? [`secret/${secretId}`] : []),
    ]) {
      const minute = minuteOf(at);
      minute[name] = (minute[name] ?? 0) + 1;
    }
  const at = whole[0]?.at ?? NOW;
  Object.assign(minuteOf(at), more);
  const isFailure = ({ outcome }: OutcomeRow) => resultOf(outcome) === 'failed';
  writingAt = own.at;
  const written = log.append({
    ...{ id: crypto.randomUUID(), process: own, marks },
    rows: whole.filter((row) => !isFailure(row)),
    failures: whole.filter(isFailure),
    counts: {
      minutes: counts,
      times: { [Math.floor(at / 600_000)]: times },
      arrivals: { [Math.floor(at / 600_000)]: arrivals },
    },
  });
  writingAt = undefined;
  await written;
}

export { callBody, recordingBody };
