import type { DeadLetters, Logger, StoredDeadLetter } from '@call-webhooks/core';
import {
  checkDeadLetterQuery,
  deadLetterPage,
  fromRecord,
  MAX_FAILURES,
  toFailureJson,
  toRecord,
  type CheckedDeadLetterQuery,
} from '@call-webhooks/core/stores';
import { checkOptions, option, safeLogger } from '@call-webhooks/core/internal';
import { scriptClient, type RedisClient } from './clients.ts';
import { CLAIM, EXTEND, FAIL, FIND, PUT, READ, RELEASE, REMOVE } from './dead-letter-scripts.ts';
import { deadLetterWarning } from './dead-letter-warning.ts';
import { prefixOption } from './keys.ts';
import { isOne, ScriptRunner, whole } from './script-runner.ts';

/** Options of `redisDeadLetters`. */
export interface RedisDeadLettersOptions {
  /** All keys begin with it; `call-webhooks` by default. It may be the one of `redisStore`. */
  prefix?: string | undefined;
  /** Gets a warning if the server could lose dead letters; `console` by default. */
  logger?: Logger | undefined;
}

/** What the scripts return of a letter: the rest of its claim in milliseconds, itself, its failures. */
type Reply = [claimMs: unknown, letter: unknown, failures: unknown[]] | null;

const rules = () => ({
  prefix: prefixOption(),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * Keeps dead letters in Redis 6.2 or newer, or Valkey. Each call is one script, or a few for a list.
 * The server has to keep an append-only file (`appendonly yes`), and to evict nothing.
 * @param client as `redisStore` takes it; it may be the same
 * @throws WebhookError `invalid-options`
 * @example
 * const redis = new Redis(process.env.REDIS_URL);
 * const hook = callWebhooks({ secret, store: redisStore(redis), deadLetter: redisDeadLetters(redis), on });
 */
export function redisDeadLetters(
  client: RedisClient,
  options: RedisDeadLettersOptions = {},
): DeadLetters {
  const { prefix, logger } = checkOptions('redisDeadLetters', rules(), options);
  const scripts = scriptClient(client);
  const script = (text: string) => new ScriptRunner(scripts, text);
  const putting = script(PUT);
  const finding = script(FIND);
  const reading = script(READ);
  const claiming = script(CLAIM);
  const failing = script(FAIL);
  const removing = script(REMOVE);
  const extending = script(EXTEND);
  const releasing = script(RELEASE);
  const warning = deadLetterWarning(scripts, safeLogger(logger));
  warning.check();

  const slot = `${prefix}:{dead-letters}`;
  const index = `${slot}:index`;
  const names = `${slot}:names`;
  const keysOf = (id: string) => ({
    letter: `${slot}:letter:${id}`,
    failures: `${slot}:failures:${id}`,
    claim: `${slot}:claim:${id}`,
  });
  const lettersKeys = (id: string) => Object.values(keysOf(id));
  const remove = async (id: string, ...token: string[]) =>
    isOne(await removing.run([index, names, ...lettersKeys(id)], [id, ...token]));

  async function read(ids: string[]): Promise<StoredDeadLetter[]> {
    if (ids.length === 0) return [];
    const replies = (await reading.run(ids.flatMap(lettersKeys), [])) as Reply[];
    return ids.flatMap((id, at) => letterOf(id, replies[at]) ?? []);
  }

  /** Up to `limit` ids of a query. */
  async function find(query: CheckedDeadLetterQuery, limit: number): Promise<string[]> {
    const { since, until, reason = '', tenant = '', eventName } = query;
    const event = eventName === undefined ? '' : `=${eventName}`;
    let [from, after] = [String(query.after?.failedAt ?? since), query.after?.id ?? ''];
    const ids: string[] = [];
    for (;;) {
      const args = [from, after, until, reason, encoded(tenant), event, limit - ids.length];
      const reply = ((await finding.run([index, names], args)) as unknown[]).map(String);
      const [time = '', id = '', ...found] = reply;
      ids.push(...found.map((one) => one.slice(1)));
      if (time === '' || ids.length === limit) return ids;
      [from, after] = [time, id.slice(1)];
    }
  }

  return {
    async put(letter) {
      warning.check();
      const record = await toRecord(letter);
      const { id, failedAt, reason, tenant, eventName, failure } = record;
      const name = `${reason} ${encoded(tenant)} ${eventName}`;
      const args = [id, failedAt, name, record.letter, failure, MAX_FAILURES];
      await putting.run([index, names, ...lettersKeys(id)], args);
    },
    async list(query) {
      const checked = checkDeadLetterQuery(query);
      return deadLetterPage(await read(await find(checked, checked.limit + 1)), checked.limit);
    },
    async count(filter) {
      return (await find(checkDeadLetterQuery(filter), 1e9)).length;
    },
    async get(id) {
      return (await read([id]))[0];
    },
    remove: (id) => remove(id),
    async claim(id, { token, leaseMs }) {
      const reply = await claiming.run(lettersKeys(id), [token, whole(leaseMs)]);
      return letterOf(id, reply as Reply);
    },
    async extend(id, token, leaseMs) {
      return isOne(await extending.run([keysOf(id).claim], [token, whole(leaseMs)]));
    },
    settle: (id, token) => remove(id, token),
    async giveBack(id, token, failure) {
      const { failures, claim } = keysOf(id);
      if (!failure) return isOne(await releasing.run([claim], [token]));
      const args = [token, id, failure.at.getTime(), toFailureJson(failure), MAX_FAILURES];
      return isOne(await failing.run([index, failures, claim], args));
    },
  };
}

/** The name of a tenant without spaces. */
const encoded = encodeURIComponent;

function letterOf(id: string, reply: Reply | undefined): StoredDeadLetter | undefined {
  if (!reply) return undefined;
  const [claimMs, letter, failures] = reply;
  const left = Number(claimMs);
  const claimedUntil = left > 0 ? new Date(Date.now() + left) : undefined;
  return fromRecord(id, json(letter), failures.map(json), claimedUntil);
}

/** `@upstash/redis` has parsed it. */
const json = (reply: unknown): string =>
  typeof reply === 'string' ? reply : JSON.stringify(reply);
