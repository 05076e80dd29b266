// The service: the simulator with short retry times. Sends `ready` once it listens, and exits when
// everything is acknowledged and all of its attempts are in the journal.
import { setTimeout as delay } from 'node:timers/promises';
import { eventKey } from '@call-webhooks/core';
import { startSimulator, type Attempt, type WebhookEvent } from '@call-webhooks/simulator';
import { Journal, monotonicMs, type JournalEntry } from '../journal.ts';
import { seededRandom } from '../seeded-random.ts';

/** What the service is started with: JSON in its only argument. */
export interface ServiceInput {
  journal: string;
  seed: string;
  secret: string;
  /** The webhook's URL. */
  url: string;
  /** How many calls to place. */
  calls: number;
  /** Exits when nothing was acknowledged for this long; milliseconds. */
  quietMs: number;
}

/** Sent to the parent after each call. */
export interface ServiceProgress {
  /** How many calls have been placed. */
  placed: number;
}

/** Each call is three events, and some events are sent in several copies. */
const CALLS_PER_SECOND = 6;
const EVENTS_PER_CALL = 3;
/**
 * Calls wait while more events than this are not acknowledged: a machine that is busy with other
 * work gets its calls, and with them its faults, more slowly. Outages of the plan stay below it.
 */
const MAX_BACKLOG = 250;

process.on('disconnect', () => process.exit(1));
const input = JSON.parse(process.argv[2] ?? '') as ServiceInput;

const simulator = await startSimulator({
  seed: input.seed,
  // The service's 30 s and 5 min, scaled down. Copies of an event ask for its lease meanwhile.
  acknowledgeWithin: 1_500,
  retryEvery: 600,
  retryJitter: 0.4,
  maxAttempts: 1_000,
  // Retries are 500 times as frequent as the service's. Without a limit, the retries of one outage
  // would keep the machine too busy to answer any of them in time.
  maxInFlight: 100,
  chaos: { concurrentDuplicates: 0.4, dropResponse: 0.03, replay: 0.03 },
});
simulator.rules.forwardTo(input.url, { secret: input.secret });
process.send?.('ready');

let acknowledged = 0;
let acknowledgedAt = monotonicMs();
await placeCalls(input.calls);
await until(isSettled);
// A replay may still be in flight.
await Promise.race([simulator.events.settled(), delay(2_000, undefined, { ref: false })]);
const journal = new Journal(input.journal);
const offset = monotonicMs() - simulator.clock.now();
for (const event of simulator.events.list())
  for (const entry of eventEntries(event, offset)) journal.write(entry);
await simulator.close();
process.exit(0);

/** Places short calls at a steady rate, or more slowly on a machine that can't keep up. */
async function placeCalls(count: number): Promise<void> {
  let at = monotonicMs();
  for (let number = 0; number < count; number++) {
    await delay(Math.max(0, at - monotonicMs()));
    await until(() => backlog() <= MAX_BACKLOG);
    simulator.calls.place({ durationSeconds: seededRandom(input.seed, 'duration', number) });
    process.send?.({ placed: number + 1 } satisfies ServiceProgress);
    at = Math.max(at + 1_000 / CALLS_PER_SECOND, monotonicMs() - 1_000);
  }
}

/** Waits for a condition, however long a slow machine takes, or until nothing was acknowledged for `quietMs`. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds() && monotonicMs() - acknowledgedAt < input.quietMs) {
    await delay(100);
    const now = simulator.events.counts().acknowledged ?? 0;
    if (now !== acknowledged) acknowledgedAt = monotonicMs();
    acknowledged = now;
  }
}

function backlog(): number {
  const states = simulator.events.counts();
  return (states.waiting ?? 0) + (states['in-flight'] ?? 0);
}

function isSettled(): boolean {
  if (backlog() > 0) return false;
  const originals = simulator.events.list().filter(({ copyOf }) => copyOf === undefined).length;
  return originals === simulator.calls.list().length * EVENTS_PER_CALL;
}

/**
 * What the service saw of one event: a journal entry for each delivery.
 * @param offset milliseconds from the simulator's clock to the journal's
 */
function eventEntries({ body, state, attempts }: WebhookEvent, offset: number): JournalEntry[] {
  const key = eventKey(JSON.parse(body) as object) ?? '';
  if (attempts.length === 0) {
    // Its rule was paused, which the check has to know.
    return [{ kind: 'delivery', at: 0, until: 0, key, status: 0, outcome: state }];
  }
  return attempts.map((attempt) => ({
    kind: 'delivery',
    at: attempt.startedAt + offset,
    // The simulator rounds down to whole milliseconds; the response came before this.
    until: (attempt.endedAt ?? attempt.startedAt) + 1 + offset,
    key,
    ...responseOf(attempt),
  }));
}

/** The receiver's response, even where chaos kept it from the service. */
function responseOf({ response: seen, droppedResponse }: Attempt): {
  status: number;
  outcome: string;
} {
  const response = droppedResponse ?? seen;
  if (response === undefined) return { status: 0, outcome: 'in flight' };
  if (response.kind === 'timeout') return { status: 0, outcome: 'timeout' };
  if (response.kind === 'connection-error') return { status: 0, outcome: response.code };
  return { status: response.status, outcome: outcomeOf(response.body) };
}

function outcomeOf(body: string): string {
  try {
    return String((JSON.parse(body) as { outcome?: unknown }).outcome);
  } catch {
    return 'a truncated response';
  }
}
