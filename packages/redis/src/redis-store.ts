import type { Logger } from '@call-webhooks/core';
import {
  storableKey,
  type Admission,
  type Claim,
  type StoreWithoutCompleteIn,
} from '@call-webhooks/core/stores';
import { checkOptions, option, safeLogger } from '@call-webhooks/core/internal';
import { scriptClient, type RedisClient } from './clients.ts';
import { EventCalls } from './event-calls.ts';
import { REFUSALS, type EventCallName } from './event-script.ts';
import { evictionWarning } from './eviction-warning.ts';
import { GroupLeases } from './group-leases.ts';
import { eventKey, Keys, prefixOption, withName } from './keys.ts';
import { isOne, ScriptRunner, whole } from './script-runner.ts';
import { LOAD_CURSOR, PING, SAVE_CURSOR } from './scripts.ts';

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** All keys begin with it; `call-webhooks` by default. Receivers with the same prefix share their memory. */
  prefix?: string | undefined;
  /**
   * How long a handled event is known as a duplicate; milliseconds, 24 hours by default, at least
   * 10 minutes.
   */
  rememberFor?: number | undefined;
  /** Gets a warning if the server may evict keys; `console` by default. */
  logger?: Logger | undefined;
}

/** How far the clocks of receivers and server may differ before a replay can pass; milliseconds. */
const CLOCK_DIFFERENCE_MS = 60_000;

const rules = () => ({
  prefix: prefixOption(),
  rememberFor: option.rememberFor(),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * Keeps webhook ids and events in Redis 6.2 or newer, or Valkey, for any number of machines. The
 * calls of one turn of the event loop are one script in one round trip. The client stays yours:
 * connect it before the receiver, and close it after the receiver.
 * @param client of ioredis, node-redis, valkey-glide, `@upstash/redis` or Bun
 * @throws WebhookError `invalid-options`
 * @example
 * const hook = callWebhooks({ secret, store: redisStore(new Redis(process.env.REDIS_URL)) });
 */
export function redisStore(
  client: RedisClient,
  options: RedisStoreOptions = {},
): StoreWithoutCompleteIn {
  const settings = checkOptions('redisStore', rules(), options);
  const { prefix, rememberFor } = settings;
  const scripts = scriptClient(client);
  const keys = new Keys(prefix);
  const script = (text: string) => new ScriptRunner(scripts, text);
  const loading = script(LOAD_CURSOR);
  const saving = script(SAVE_CURSOR);
  const pinging = script(PING);
  const calls = new EventCalls(scripts, rememberFor);
  const groups = new GroupLeases(scripts);
  const eviction = evictionWarning(scripts, safeLogger(settings.logger));
  eviction.check();

  function admit(slot: string, id: string, { token, group, ...claim }: Claim): Promise<Admission> {
    const names = [`${slot}:id:${id}`, eventKey(slot)];
    const args = [token, idKnownUntil(claim), whole(claim.leaseMs)];
    if (group === undefined) return calls.run('admit', slot, names, args, admission);
    const admitIn = (name: string, state: string) =>
      calls.run('admitInGroup', slot, names, [...args, name, state], (reply) => reply);
    return keys
      .group(group)
      .then((name) => groups.admit(name, token, claim.leaseMs, admitIn))
      .then(admission);
  }

  function admission(reply: unknown): Admission {
    eviction.check();
    return admissionOf(reply);
  }

  /** A call about an event that was admitted before. */
  const ofEvent = <Result>(
    name: EventCallName,
    key: string,
    args: (string | number)[],
    read: (reply: unknown) => Result | Promise<Result>,
  ): Promise<Result> =>
    withName(keys.slot(key), (slot) => calls.run(name, slot, [eventKey(slot)], args, read));

  // Nothing is awaited that is there already: each delivery passes here twice.
  return {
    rememberFor,
    admit(claim) {
      const { webhookId, key, token } = claim;
      // A replay has the same bytes, and so the same event: one slot has both.
      return withName(keys.slot(key ?? webhookId), (slot) =>
        key === undefined
          ? calls.run('remember', slot, [`${slot}:id`], [token, idKnownUntil(claim)], admission)
          : withName(storableKey(webhookId), (id) => admit(slot, id, claim)),
      );
    },
    complete: (key, token, mark) =>
      ofEvent('complete', key, [token, mark ?? 'done'], (reply) => groups.free(token, reply)),
    release: (key, token) => ofEvent('release', key, [token], (reply) => groups.free(token, reply)),
    extend: (key, token, leaseMs) =>
      ofEvent('extend', key, [token, whole(leaseMs)], (reply) =>
        groups.extend(token, leaseMs, reply),
      ),
    reopen: (key) => ofEvent('reopen', key, [], isOne),
    async loadCursor(name) {
      const reply = String(await loading.run([await keys.cursor(name)], []));
      return reply === '' ? undefined : reply.slice(1);
    },
    async saveCursor(name, cursor = '') {
      await saving.run([await keys.cursor(name)], [cursor]);
    },
    ping: () => pinging.run([keys.ping], []),
  };
}

const idKnownUntil = ({ replayUntil }: Pick<Claim, 'replayUntil'>) =>
  Math.ceil(replayUntil) + CLOCK_DIFFERENCE_MS;

function admissionOf(reply: unknown): Admission {
  const number = Number(reply);
  if (number > 0) return { status: 'admitted', attempt: number };
  const status = REFUSALS.get(number);
  if (status === undefined) throw new Error('The server gave a reply that the script never gives.');
  return { status };
}
