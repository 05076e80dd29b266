import type { Logger } from '@call-webhooks/core';
import {
  type Admission,
  checkOptions,
  type Claim,
  type EventState,
  option,
  safeLogger,
  storableKey,
  type StoreWithoutCompleteIn,
} from '@call-webhooks/core/stores';
import type { RedisClient } from './clients.ts';
import { warnOfDeadConnections } from './dead-connections.ts';
import { EventCalls } from './event-calls.ts';
import type { EventCallName } from './event-script.ts';
import { redisOutcomeLog } from './outcome-log.ts';
import { Scripts, textOf, unexpected, whole } from './scripts.ts';
import { evictionWarning } from './server-warnings.ts';

/** The options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * The beginning of all keys; `call-webhooks` by default. Receivers with the same prefix share what
   * they remember.
   */
  prefix?: string | undefined;
  /**
   * How long a handled event is recognized as a duplicate, in milliseconds: 600,000 (10 minutes) to 10
   * years, by default 86,400,000 (24 hours).
   */
  rememberFor?: number | undefined;
  /**
   * The clock of the receiver, in milliseconds since the epoch, with which expired webhook ids are
   * recognized; `Date.now` by default. All other times are counted by the server.
   */
  now?: (() => number) | undefined;
  /**
   * Gets a warning if the server may evict keys, or if the client has no `socketTimeout`; `console` by
   * default.
   */
  logger?: Logger | undefined;
}

/**
 * On a cluster, a group is leased so much longer than its event, whose lease comes after it: a call of
 * the store takes at most 10 s.
 */
const AHEAD_MS = 10_000;
/** Readable in `redis-cli`, and without braces, which a cluster would take for a hash tag. */
const READABLE = /^[\w:.-]{1,80}$/;
const REFUSALS = ['duplicate', 'dead-lettered', 'in-progress', 'group-busy', 'replayed'] as const;

const LOAD_CURSOR = `return '=' .. (redis.call('GET', KEYS[1]) or '')`;
/** ARGV: a text, or nothing to remove the cursor. */
const SAVE_CURSOR = `
if ARGV[1] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[1]) end
return '='`;
/** On a cluster, each of these tags is in another sixteenth of the slots. */
const PING_TAGS = [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 60, 61, 62, 63];

/** The prefix of all keys. */
export const prefixOption = () =>
  option.default(
    option.text(
      /^[^{}\p{Cc}\p{Surrogate}]{1,200}$/u,
      'expected 1 to 200 characters without { and }, and no control characters',
    ),
    'call-webhooks',
  );

const rules = () => ({
  prefix: prefixOption(),
  rememberFor: option.rememberFor(),
  now: option.default(option.function<() => number>(), () => () => Date.now()),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * Creates a store in Redis 6.2 or newer, or in Valkey, for any number of machines. All calls of one
 * turn of the event loop are sent as one script, in one round trip. You own the client: connect it
 * before you create the receiver, and close it after the receiver.
 * @param client of ioredis, node-redis, valkey-glide, `@upstash/redis` or Bun
 * @throws WebhookError `invalid-options`
 * @example
 * const redis = new Redis(process.env.REDIS_URL, { socketTimeout: 5_000 });
 * const hook = callWebhooks({ secret, store: redisStore(redis) });
 */
export function redisStore(
  client: RedisClient,
  options: RedisStoreOptions = {},
): StoreWithoutCompleteIn {
  const { prefix, rememberFor, now, logger } = checkOptions('redisStore', rules(), options);
  const scripts = new Scripts('redisStore', client);
  const calls = new EventCalls(scripts, rememberFor);
  const ask = async (script: string) => textOf(await scripts.run(script, []));
  warnOfDeadConnections(client, safeLogger(logger));
  const warnOfEviction = evictionWarning(ask, safeLogger(logger));
  warnOfEviction();

  /** By the part in braces, a cluster chooses the slot of a key. */
  const keyOf = async (name: string, kind: 'id' | 'event' | 'group' | 'cursor') =>
    `${prefix}:{${await storableKey(name, READABLE)}}:${kind}`;
  /** A call about an event that was admitted before. */
  const ofEvent = async (name: EventCallName, key: string, args: (string | number)[]) =>
    calls.run(name, [await keyOf(key, 'event')], args);

  async function admit(claim: Claim): Promise<unknown> {
    const { webhookId, key, token, replayUntil } = claim;
    // It does not depend on the event: a webhook id is refused whatever else its delivery says.
    const id = await keyOf(webhookId, 'id');
    const idMs = whole(replayUntil - now());
    const remember = () => calls.run('remember', [id], [token, idMs]);
    if (key === undefined) return remember();

    // The same with and without a group, so that an event stays known when `oneAtATime` is changed.
    const event = await keyOf(key, 'event');
    const group = claim.group === undefined ? '' : await keyOf(claim.group, 'group');
    const lease = [token, whole(claim.leaseMs), group];
    if (!calls.isCluster())
      try {
        return await calls.run('claim', [event, id], [...lease, idMs]);
      } catch (error) {
        if (!calls.isCluster()) throw error;
      }
    // A cluster has them in different slots. If a step fails, so does the claim; its token may repeat it.
    const seen = await remember();
    if (seen !== 1) return seen;
    const admitEvent = (state: string) => calls.run('admit', [event], [...lease, state]);
    return group === '' ? admitEvent('') : inGroup(group, claim, admitEvent);
  }

  /** Takes the lease of the group before that of the event. */
  async function inGroup(
    group: string,
    { token, leaseMs }: Claim,
    admitEvent: (state: 'held' | 'busy') => Promise<unknown>,
  ): Promise<unknown> {
    const isHeld =
      (await calls.run('takeGroup', [group], [token, whole(leaseMs) + AHEAD_MS])) === 1;
    let isAdmitted = false;
    try {
      const reply = await admitEvent(isHeld ? 'held' : 'busy');
      isAdmitted = isAttempt(reply);
      return reply;
    } finally {
      if (isHeld && !isAdmitted) await freeGroup(group, token);
    }
  }

  /** If it fails, the lease of the group runs out. */
  const freeGroup = (group: string, token: string) =>
    calls.run('freeGroup', [group], [token]).catch(() => undefined);

  /** @param reply of the script that ended the lease of the event */
  async function isFreed(reply: unknown, token: string): Promise<boolean> {
    if (!isGroup(reply)) return isHeld(reply);
    await freeGroup(reply, token);
    return true;
  }

  return {
    name: 'Redis',
    rememberFor,
    async admit(claim) {
      const reply = await admit(claim);
      warnOfEviction();
      return admissionOf(reply);
    },
    async complete(key, token, mark) {
      return isFreed(await ofEvent('complete', key, [token, mark ?? 'done']), token);
    },
    async release(key, token) {
      return isFreed(await ofEvent('release', key, [token]), token);
    },
    async extend(key, token, leaseMs) {
      const reply = await ofEvent('extend', key, [token, whole(leaseMs)]);
      if (!isGroup(reply)) return isHeld(reply);
      return isHeld(await calls.run('extendGroup', [reply], [token, whole(leaseMs) + AHEAD_MS]));
    },
    reopen: async (key) => isHeld(await ofEvent('reopen', key, [])),
    async forget(keys) {
      const forgotten = keys.map(async (key) => isHeld(await ofEvent('forget', key, [])));
      return (await Promise.all(forgotten)).filter(Boolean).length;
    },
    async peek(keys) {
      const states = keys.map(async (key) => stateOf(await ofEvent('peek', key, [])));
      return Promise.all(states);
    },
    log: redisOutcomeLog(scripts, prefix),
    async loadCursor(name) {
      const cursor = textOf(await scripts.run(LOAD_CURSOR, [await keyOf(name, 'cursor')]));
      return cursor === '' ? undefined : cursor;
    },
    async saveCursor(name, cursor = '') {
      textOf(await scripts.run(SAVE_CURSOR, [await keyOf(name, 'cursor')], [cursor]));
    },
    async ping() {
      const tags = calls.isCluster() ? PING_TAGS : PING_TAGS.slice(0, 1);
      const keyOfPing = (tag: number, kind: string) => `${prefix}:{ping-${String(tag)}}:${kind}`;
      await Promise.all(
        tags.map(async (tag) => {
          const [event, id, group] = ['event', 'id', 'group'].map((kind) => keyOfPing(tag, kind));
          await calls.ping(event as string, id as string, group as string);
        }),
      );
    },
  };
}

function admissionOf(reply: unknown): Admission {
  if (isAttempt(reply)) return { status: 'admitted', attempt: reply };
  const status = REFUSALS.find((refusal) => refusal === reply);
  if (status === undefined) throw unexpected();
  return { status };
}

const STATES: Readonly<Record<string, EventState>> = {
  leased: 'running',
  done: 'handled',
  'dead-lettered': 'dead-lettered',
};

function stateOf(reply: unknown): EventState | undefined {
  if (reply === 0) return undefined;
  const state = isAttempt(reply) ? 'failed' : STATES[String(reply)];
  if (state === undefined) throw unexpected();
  return state;
}

const isAttempt = (reply: unknown): reply is number => Number.isInteger(reply) && Number(reply) > 0;

/** On a cluster, the script replies with the key of the group, which it can't reach. */
const isGroup = (reply: unknown): reply is string =>
  typeof reply === 'string' && reply.endsWith(':group');

function isHeld(reply: unknown): boolean {
  if (reply !== 1 && reply !== 0) throw unexpected();
  return reply === 1;
}
