import { checkOptions, option } from '../check-options.ts';
import type {
  DeadLetterFilter,
  DeadLetters,
  ListedDeadLetter,
  StoredDeadLetter,
} from './dead-letter.ts';
import {
  checkDeadLetterQuery,
  deadLetterPage,
  type DeadLetterRecord,
  fromRecord,
  toFailureJson,
  toRecord,
  withBody,
  withFailure,
} from './record.ts';

/** The options of `memoryDeadLetters`. */
export interface MemoryDeadLettersOptions {
  /**
   * The maximum number of letters: 1 to 1,000,000, by default 10,000. When the limit is reached, new
   * letters are refused and their deliveries are retried. A stored letter is never thrown away for a
   * newer one.
   */
  maxLetters?: number | undefined;
  /**
   * How long a letter is kept after its last failure, in milliseconds: 3,600,000 (1 hour) to 10 years.
   * By default, letters are kept until they are redriven or removed. The receiver or the worker that
   * has these dead letters removes the expired ones.
   */
  keepFor?: number | undefined;
  /** A clock for tests, in milliseconds; `performance.now` by default. */
  now?: (() => number) | undefined;
}

interface Kept extends DeadLetterRecord {
  failures: string[];
  claim?: { token: string; until: number } | undefined;
}

const rules = () => ({
  maxLetters: option.default(option.count(1, 1_000_000), 10_000),
  keepFor: option.keepFor(),
  now: option.optional(option.function<() => number>()),
});

/**
 * Creates a dead-letter store in the memory of this process: for tests, and for receivers that may lose
 * their dead letters at a restart. A receiver warns about it in production.
 * @throws WebhookError `invalid-options`
 * @example
 * const deadLetters = memoryDeadLetters();
 * const receiver = createReceiver({ secret, on, deadLetter: deadLetters });
 */
export function memoryDeadLetters(options: MemoryDeadLettersOptions = {}): DeadLetters {
  const settings = checkOptions('memoryDeadLetters', rules(), options);
  const { maxLetters, keepFor, now = () => performance.now() } = settings;
  const kept = new Map<string, Kept>();
  /** Of a removal. */
  let turn: { token: string; until: number } | undefined;

  const listed = ({ id, letter, failures, claim }: Kept): ListedDeadLetter => {
    const left = (claim?.until ?? 0) - now();
    const claimedUntil = left > 0 ? new Date(Date.now() + left) : undefined;
    return fromRecord(id, letter, failures, claimedUntil);
  };
  const whole = (entry: Kept): StoredDeadLetter => withBody(listed(entry), entry.body);

  /** The letter if this token holds its claim. */
  const held = (id: string, token: string): Kept | undefined => {
    const entry = kept.get(id);
    return entry?.claim?.token === token && entry.claim.until > now() ? entry : undefined;
  };

  function matching(filter: DeadLetterFilter | undefined): Kept[] {
    const { eventName, reason, tenant, since, until, after } = checkDeadLetterQuery(filter);
    return [...kept.values()]
      .filter((one) => eventName === undefined || one.eventName === eventName)
      .filter((one) => reason === undefined || one.reason === reason)
      .filter((one) => tenant === undefined || one.tenant === tenant)
      .filter(({ failedAt }) => failedAt >= since && failedAt < until)
      .filter((one) => after === undefined || compare(one, after) > 0)
      .sort(compare);
  }

  function checkRoom(): void {
    if (kept.size >= maxLetters)
      throw new Error(
        `memoryDeadLetters is full: it already has ${String(maxLetters)} letters. Redrive or remove some, or raise maxLetters.`,
      );
  }

  const letters: DeadLetters = {
    keepFor,
    async removeExpired({ before, limit, token, leaseMs }) {
      if (turn && turn.token !== token && turn.until > now()) return undefined;
      turn = { token, until: now() + leaseMs };
      const isFree = ({ claim }: Kept) => !claim || claim.until <= now();
      const expired = matching({ until: before }).filter(isFree).slice(0, limit);
      for (const { id } of expired) kept.delete(id);
      return expired.length;
    },
    ping: async () => checkRoom(),
    async put(letter) {
      const record = await toRecord(letter);
      const known = kept.get(record.id);
      if (!known) checkRoom();
      const failures = withFailure(known?.failures ?? [], record.failure);
      kept.set(record.id, { ...record, failures });
    },
    async list(query) {
      const { limit } = checkDeadLetterQuery(query);
      const found = matching(query).slice(0, limit + 1);
      return deadLetterPage(found.map(listed), limit);
    },
    async get(id) {
      const entry = kept.get(id);
      return entry && whole(entry);
    },
    remove: async (id) => kept.delete(id),
    count: async (filter) => matching(filter).length,
    async claim(id, { token, leaseMs }) {
      const entry = kept.get(id);
      const isFree = !entry?.claim || entry.claim.until <= now() || entry.claim.token === token;
      if (!entry || !isFree) return undefined;
      entry.claim = { token, until: now() + leaseMs };
      return whole(entry);
    },
    async extend(id, token, leaseMs) {
      const entry = held(id, token);
      if (entry) entry.claim = { token, until: now() + leaseMs };
      return entry !== undefined;
    },
    settle: async (id, token) => held(id, token) !== undefined && kept.delete(id),
    async giveBack(id, token, failure) {
      const entry = held(id, token);
      if (!entry) return false;
      entry.claim = undefined;
      if (failure) {
        entry.failures = withFailure(entry.failures, toFailureJson(failure));
        entry.failedAt = failure.at.getTime();
      }
      return true;
    },
  };
  return Object.defineProperty(letters, IN_MEMORY, { value: true });
}

/** Also for another copy of this package. */
const IN_MEMORY = Symbol.for('@call-webhooks/in-memory');

/** Whether these are dead letters that end with the process. */
export const isInMemory = (deadLetter: unknown): boolean =>
  IN_MEMORY in (Object(deadLetter) as object);

type Position = Pick<Kept, 'failedAt' | 'id'>;
const compare = (one: Position, other: Position): number =>
  one.failedAt - other.failedAt || (one.id < other.id ? -1 : Number(one.id > other.id));
