import { fromBase64 } from '#platform';
import type {
  DeadJobs,
  DeadLetterFailure,
  DeadLetterFilter,
  DeadLetterQuery,
  ListedDeadLetter,
} from '../dead-letters/dead-letter.ts';
import {
  checkDeadLetterQuery,
  type CheckedDeadLetterQuery,
  deadLetterPage,
  storableName,
  withFailure,
} from '../dead-letters/record.ts';
import { defined } from '../defined.ts';
import type { QueuedDelivery } from '../queue.ts';
import { storableText } from '../store/keys.ts';

/** One failed attempt of a job, as engines keep it in JSON: at milliseconds since the epoch. */
export type JobFailure = Readonly<Pick<DeadLetterFailure, 'attempt' | 'error'>> & {
  readonly at: number;
};

/** The failures with one more, as databases can keep it in JSON; the first one and at most the last 49. */
export const addFailure = (
  failures: readonly JobFailure[],
  { at, attempt, error }: JobFailure,
): JobFailure[] => withFailure(failures, { at, attempt, error: storableText(error) });

/** A dead job as its engine keeps it. */
export interface DeadJobRecord {
  readonly id: string;
  readonly delivery: QueuedDelivery;
  readonly attempt: number;
  readonly failedAt: Date;
  /** The message of the last failure, as `JobResult` had it. */
  readonly error: string;
  /** Its failed attempts, oldest first, where the engine keeps them; the last one by default. */
  readonly failures?: readonly JobFailure[] | undefined;
}

/** A part of the dead jobs of an engine: those from `since`, before `until`, that come after one. */
export type DeadJobRange = Pick<CheckedDeadLetterQuery, 'since' | 'until' | 'after'>;

/** What an engine can do with its dead jobs. */
export interface DeadJobEngine extends Pick<DeadJobs, 'requeue' | 'remove'> {
  /**
   * Whether a job of the engine may have this id; by default, any string without NUL. The other methods
   * are only called with such ids.
   */
  isId?(id: string): boolean;
  /**
   * Returns the first jobs of a range, as many as the engine reads at once, or none if the range is
   * empty. Oldest failure first, then by id.
   */
  page(range: DeadJobRange): Promise<readonly DeadJobRecord[]>;
  get(id: string): Promise<DeadJobRecord | undefined>;
}

/** What the messages of an `invalid-payload` begin with. */
const INVALID =
  /^(?:The body is |The payload does not match|The schema failed: |The event has neither|The queued delivery has no|custom\.key (?:failed: |must return ))/;

/** A dead job as a dead letter in a list: its body is not decoded. */
function letterOf(job: DeadJobRecord): ListedDeadLetter {
  const { id, delivery, attempt, failedAt, error } = job;
  const { failures = [{ at: failedAt.getTime(), attempt, error }] } = job;
  const { tenant, webhookId, timestamp, key, eventName, callId, body } = delivery;
  return {
    id,
    reason: INVALID.test(error) ? 'invalid-payload' : 'handler-failed',
    bytes: Math.floor((body.replace(/=+$/, '').length * 3) / 4),
    ...defined({ tenant, eventName, callId, key }),
    webhookId,
    attempt,
    failedAt,
    source: 'queue',
    error,
    timestamp: new Date(timestamp * 1_000),
    history: failures.map(({ at, ...failure }) => ({
      at: new Date(at),
      source: 'queue',
      ...failure,
    })),
  };
}

/** The dead jobs of an engine as dead letters, for `redrive({ deadJobs })`. */
export function deadJobs(engine: DeadJobEngine): DeadJobs {
  const isId = (id: string) => !id.includes('\0') && (engine.isId?.(id) ?? true);

  async function* matching(query: DeadLetterQuery | DeadLetterFilter | undefined) {
    const { eventName, reason, tenant, ...range } = checkDeadLetterQuery(query, isId);
    for (let jobs = await engine.page(range); jobs.length > 0; jobs = await engine.page(range))
      for (const letter of jobs.map(letterOf)) {
        range.after = { failedAt: letter.failedAt.getTime(), id: letter.id };
        if (eventName !== undefined && storableName(letter.eventName) !== eventName) continue;
        if (tenant !== undefined && storableName(letter.tenant) !== tenant) continue;
        if (reason === undefined || letter.reason === reason) yield letter;
      }
  }

  return {
    async list(query) {
      const { limit } = checkDeadLetterQuery(query, isId);
      const letters: ListedDeadLetter[] = [];
      for await (const letter of matching(query)) if (letters.push(letter) > limit) break;
      return deadLetterPage(letters, limit);
    },
    async count(filter) {
      let count = 0;
      for await (const _letter of matching(filter)) count += 1;
      return count;
    },
    async get(id) {
      const job = isId(id) ? await engine.get(id) : undefined;
      return job && { ...letterOf(job), rawBody: bodyOf(job.delivery) };
    },
    requeue: async (id) => isId(id) && engine.requeue(id),
    remove: async (id) => isId(id) && engine.remove(id),
  };
}

function bodyOf({ body }: QueuedDelivery): Uint8Array {
  try {
    return fromBase64(body);
  } catch {
    return new Uint8Array(); // no delivery of a receiver
  }
}
