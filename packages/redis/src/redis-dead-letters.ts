import type { DeadLetters, Logger, StoredDeadLetter } from '@call-webhooks/core';
import {
  checkDeadLetterQuery,
  type CheckedDeadLetterQuery,
  checkOptions,
  deadLetterPage,
  fromRecord,
  type ListedDeadLetter,
  MAX_FAILURES,
  option,
  safeLogger,
  toFailureJson,
  toRecord,
  withBody,
} from '@call-webhooks/core/stores';
import type { RedisClient } from './clients.ts';
import { warnOfDeadConnections } from './dead-connections.ts';
import {
  CLAIM,
  EXPIRED,
  EXTEND,
  FAIL,
  FIND,
  LIST,
  PING,
  PUT,
  READ,
  RELEASE,
  REMOVE,
  REMOVE_EXPIRED,
} from './dead-letter-scripts.ts';
import { prefixOption } from './redis-store.ts';
import { Scripts, textOf, textsOf, unexpected, whole } from './scripts.ts';
import { deadLetterWarning } from './server-warnings.ts';

/** The options of `redisDeadLetters`. */
export interface RedisDeadLettersOptions {
  /** The beginning of all keys; `call-webhooks` by default. It may be the prefix of `redisStore`. */
  prefix?: string | undefined;
  /**
   * How long a letter is kept after its last failure, in milliseconds: 3,600,000 (1 hour) to 10 years.
   * By default, letters are kept until they are redriven or removed. The receiver or the worker that
   * has these dead letters removes the expired ones.
   */
  keepFor?: number | undefined;
  /** Gets a warning if the server could lose dead letters; `console` by default. */
  logger?: Logger | undefined;
}

const rules = () => ({
  prefix: prefixOption(),
  keepFor: option.keepFor(),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * Creates a dead-letter store in Redis 6.2 or newer, or in Valkey. Each call is one script; listing
 * letters takes a few. The server must keep an append-only file (`appendonly yes`) and must not evict
 * keys, or acknowledged events are lost.
 * @param client as `redisStore` takes it; it may be the same
 * @throws WebhookError `invalid-options`
 * @example
 * const redis = new Redis(process.env.REDIS_URL, { socketTimeout: 5_000 });
 * const hook = callWebhooks({ secret, store: redisStore(redis), deadLetter: redisDeadLetters(redis), on });
 */
export function redisDeadLetters(
  client: RedisClient,
  options: RedisDeadLettersOptions = {},
): DeadLetters {
  const { prefix, keepFor, logger } = checkOptions('redisDeadLetters', rules(), options);
  const scripts = new Scripts('redisDeadLetters', client);
  const ask = async (script: string) => textOf(await scripts.run(script, []));
  warnOfDeadConnections(client, safeLogger(logger));
  const warnOfLoss = deadLetterWarning(ask, safeLogger(logger));
  warnOfLoss();
  /** Runs a script that replies whether it did something. */
  const isDone = async (script: string, keys: string[], args: (string | number)[]) => {
    const reply = textOf(await scripts.run(script, keys, args));
    if (reply !== '1' && reply !== '0') throw unexpected();
    return reply === '1';
  };

  const slot = `${prefix}:{dead-letters}`;
  const index = `${slot}:index`;
  const names = `${slot}:names`;
  const keysOf = (id: string) => ({
    letter: `${slot}:letter:${id}`,
    failures: `${slot}:failures:${id}`,
    claim: `${slot}:claim:${id}`,
    body: `${slot}:body:${id}`,
  });
  const lettersKeys = (id: string) => Object.values(keysOf(id));
  const remove = (id: string, ...token: string[]) =>
    isDone(REMOVE, [index, names, ...lettersKeys(id)], [id, ...token]);

  async function list(ids: string[]): Promise<ListedDeadLetter[]> {
    if (ids.length === 0) return [];
    const replies = await scripts.run(LIST, ids.flatMap(lettersKeys));
    if (!Array.isArray(replies) || replies.length !== ids.length) throw unexpected();
    return ids.flatMap((id, at) => letterOf(id, replies[at])?.letter ?? []);
  }

  /** Up to `limit` ids of a query. */
  async function find(query: CheckedDeadLetterQuery, limit: number): Promise<string[]> {
    const { since, until, reason = '', tenant = '', eventName } = query;
    const event = eventName === undefined ? '' : `=${eventName}`;
    let [from, after] = [String(query.after?.failedAt ?? since), query.after?.id ?? ''];
    const ids: string[] = [];
    for (;;) {
      const args = [from, after, until, reason, encoded(tenant), event, limit - ids.length];
      const [time, id, ...found] = textsOf(await scripts.run(FIND, [index, names], args));
      if (time === undefined || id === undefined) throw unexpected();
      ids.push(...found);
      if (time === '' || ids.length === limit) return ids;
      [from, after] = [time, id];
    }
  }

  return {
    keepFor,
    async removeExpired({ before, limit, token, leaseMs }) {
      const time = before.getTime();
      const args = [token, whole(leaseMs), time, limit];
      const reply = textsOf(await scripts.run(EXPIRED, [index, `${slot}:removal`], args));
      const [first, ...ids] = reply;
      if (first === undefined) return undefined;
      if (ids.length === 0) return 0;
      const keys = [index, names, ...ids.flatMap(lettersKeys)];
      return Number(textOf(await scripts.run(REMOVE_EXPIRED, keys, [time, ...ids])));
    },
    async put(letter) {
      warnOfLoss();
      const record = await toRecord(letter);
      const { id, failedAt, reason, tenant, eventName, failure } = record;
      const name = `${reason} ${encoded(tenant)} ${eventName}`;
      const args = [id, failedAt, name, record.letter, failure, MAX_FAILURES, record.body];
      await isDone(PUT, [index, names, ...lettersKeys(id)], args);
    },
    ping: async () => textOf(await scripts.run(PING, [`${slot}:ping`])),
    async list(query) {
      const checked = checkDeadLetterQuery(query);
      return deadLetterPage(await list(await find(checked, checked.limit + 1)), checked.limit);
    },
    async count(filter) {
      return (await find(checkDeadLetterQuery(filter), 1e9)).length;
    },
    async get(id) {
      return wholeLetter(id, await scripts.run(READ, lettersKeys(id)));
    },
    remove: (id) => remove(id),
    async claim(id, { token, leaseMs }) {
      return wholeLetter(id, await scripts.run(CLAIM, lettersKeys(id), [token, whole(leaseMs)]));
    },
    extend: (id, token, leaseMs) => isDone(EXTEND, [keysOf(id).claim], [token, whole(leaseMs)]),
    settle: (id, token) => remove(id, token),
    async giveBack(id, token, failure) {
      const { failures, claim } = keysOf(id);
      if (!failure) return isDone(RELEASE, [claim], [token]);
      const args = [token, id, failure.at.getTime(), toFailureJson(failure), MAX_FAILURES];
      return isDone(FAIL, [index, failures, claim], args);
    },
  };
}

/** The name of a tenant without spaces. */
const encoded = encodeURIComponent;

/** @returns nothing if the script says that there is no letter */
function letterOf(
  id: string,
  reply: unknown,
): { letter: ListedDeadLetter; body: string } | undefined {
  const [claimMs, letter, body, ...failures] = textsOf(reply);
  if (claimMs === '' && letter === undefined) return undefined;
  if (claimMs === undefined || letter === undefined || body === undefined) throw unexpected();
  if (!/^-?\d+$/.test(claimMs)) throw unexpected();
  const left = Number(claimMs);
  const claimedUntil = left > 0 ? new Date(Date.now() + left) : undefined;
  return { letter: fromRecord(id, letter, failures, claimedUntil), body };
}

function wholeLetter(id: string, reply: unknown): StoredDeadLetter | undefined {
  const found = letterOf(id, reply);
  return found && withBody(found.letter, found.body);
}
