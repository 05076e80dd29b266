import { systemClock } from '@call-webhooks/client';
import { checkOptions, docsUrl, loggedError, option } from '@call-webhooks/core/internal';
import { WebhookError } from '@call-webhooks/core';
import { inTime } from '../store-calls.ts';
import type { Finding } from './findings.ts';
import { judge } from './judge.ts';
import type { ReadableLetters } from './letters.ts';
import { loadEvidence } from './load.ts';
import { isTimeZone, shownTime } from './times.ts';
import type { Status, StatusOptions, StatusStore } from './types.ts';
import { inWords } from './words.ts';

/** How long `ping()` may take, in milliseconds: twice as long as a receiver waits for its store by default. */
const PING_MS = 2_000;

const rules = () => ({
  store: option.object<StatusStore>(),
  deadLetters: option.optional(option.object<ReadableLetters>('count', 'list')),
  expect: option.optional(option.object<readonly string[]>('includes')),
  now: option.optional(option.function<() => number>()),
  timeZone: option.optional(option.text(/./s, 'expected the name of a time zone')),
});

/**
 * Reports the events that have stopped arriving, those whose rules may soon be paused, and anything else that needs
 * attention, each with the evidence and what to do. It reads the store's outcome log, changes nothing, and never asks
 * the service. If the log doesn't contain enough to judge an event, its state is `unknown`, with the reason.
 *
 * It takes 10 to 80 ms with 50 hours of deliveries and a database on the same machine, and needs 10 to 20 round trips
 * (30 to 85 for Redis). Both grow with the number of failed deliveries. Call it once a minute rather than for each
 * request.
 * @returns the result, even if the store does not respond, which is then reported in `attention`
 * @throws WebhookError `invalid-options`, the only reason it rejects
 * @example
 * const { attention } = await status({ store });
 * for (const { text, fix } of attention) console.log(`${text} ${fix}`);
 */
export async function status(options: StatusOptions): Promise<Status> {
  const docs = docsUrl('status.md');
  const { store, deadLetters, expect, now, timeZone } = checkOptions(
    'status',
    rules(),
    options,
    docs,
  );
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw new WebhookError(
      'invalid-options',
      'status: timeZone: this runtime does not know the zone. Pass an IANA name such as Europe/Berlin, or UTC.',
      { docs },
    );
  const at = () => now?.() ?? Date.now();
  try {
    if (store.ping)
      await inTime('ping() of the store', async () => store.ping?.(), PING_MS, systemClock);
  } catch (error) {
    return trouble('store-down', error, at());
  }
  const { log } = store;
  if (!log) return { at: at(), ...NOTHING, unknown: 'The store keeps no outcome log.' };
  try {
    return judge(await loadEvidence(store, log, { expect, deadLetters, now }), timeZone);
  } catch (error) {
    return trouble('log-unreadable', error, at());
  }
}

const NOTHING = { attention: [], undecided: [], events: [], notes: [] };

function trouble(what: 'store-down' | 'log-unreadable', error: unknown, at: number): Status {
  const { text } = loggedError(error);
  const of = { kind: 'store', tenant: '', eventName: '', since: at, count: 1 } as const;
  const finding = { what, ...of, urgent: what === 'store-down', error: text } as Finding;
  const unknown =
    what === 'store-down' ? 'The store does not answer.' : 'The outcome log cannot be read.';
  const limits = { now: at, rememberFor: 0 };
  const item = inWords(finding, (time) => shownTime(time, at), limits);
  return { ...NOTHING, at, attention: [item], unknown };
}
