import {
  checkOptions,
  option,
  safeLogger,
  storableKey,
  type Admission,
  type Claim,
  type Logger,
  type StoreWithoutCompleteIn,
} from '@call-webhooks/core';
import { scriptClient, type RedisClient } from './clients.ts';
import { EventCalls } from './event-calls.ts';
import { REFUSALS } from './event-script.ts';
import { evictionWarning } from './eviction-warning.ts';
import { GroupLeases } from './group-leases.ts';
import { eventKeys, Keys, prefixOption } from './keys.ts';
import { isOne, ScriptRunner, whole } from './script-runner.ts';
import { LOAD_CURSOR, PING, REOPEN, SAVE_CURSOR } from './scripts.ts';

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

/** Token, when the webhook id may be forgotten (ms since the epoch), and lease (ms). */
type ClaimArgs = [token: string, until: number, leaseMs: number];

/** How far the clocks of receivers and server may differ before a replay can pass; milliseconds. */
const CLOCK_DIFFERENCE_MS = 60_000;

const rules = () => ({
  prefix: prefixOption(),
  rememberFor: option.rememberFor(),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * Keeps webhook ids and events in Redis 6.2 or newer, or Valkey, for any number of machines. The
 * calls of one turn of the event loop are one script in one round trip. The client stays yours: connect it before, and close it after
 * the receiver.
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
  const reopening = script(REOPEN);
  const loading = script(LOAD_CURSOR);
  const saving = script(SAVE_CURSOR);
  const pinging = script(PING);
  const calls = new EventCalls(scripts, rememberFor);
  const groups = new GroupLeases(scripts);
  const eviction = evictionWarning(scripts, safeLogger(settings.logger));
  eviction.check();

  async function admit(slot: string, id: string, claim: ClaimArgs, group?: string) {
    const { attempts, lease, done, deadLettered } = eventKeys(slot);
    const names = [`${slot}:id:${id}`, attempts, lease, done, deadLettered];
    if (group === undefined) return calls.run('admit', slot, names, claim);
    const [token, , leaseMs] = claim;
    return groups.admit(await keys.group(group), token, leaseMs, (name, state) =>
      calls.run('admitInGroup', slot, names, [...claim, name, state]),
    );
  }

  return {
    rememberFor,
    async admit({ webhookId, key, token, replayUntil, leaseMs, group }: Claim): Promise<Admission> {
      // A replay has the same bytes, and so the same event: one slot has both.
      const pending = keys.slot(key ?? webhookId);
      const slot = typeof pending === 'string' ? pending : await pending;
      const until = Math.ceil(replayUntil) + CLOCK_DIFFERENCE_MS;
      const reply = await (key === undefined
        ? calls.run('remember', slot, [`${slot}:id`], [token, until])
        : admit(slot, await storableKey(webhookId), [token, until, whole(leaseMs)], group));
      eviction.check();
      return admissionOf(reply);
    },
    async complete(key, token, mark) {
      const pending = keys.slot(key);
      const slot = typeof pending === 'string' ? pending : await pending;
      const { lease, done, deadLettered, attempts } = eventKeys(slot);
      const names = [lease, mark === undefined ? done : deadLettered, attempts];
      return groups.free(token, await calls.run('complete', slot, names, [token]));
    },
    async release(key, token) {
      const slot = await keys.slot(key);
      const names = [eventKeys(slot).lease];
      return groups.free(token, await calls.run('release', slot, names, [token]));
    },
    async extend(key, token, leaseMs) {
      const slot = await keys.slot(key);
      const names = [eventKeys(slot).lease];
      const reply = await calls.run('extend', slot, names, [token, whole(leaseMs)]);
      return groups.extend(token, leaseMs, reply);
    },
    async reopen(key) {
      const { deadLettered } = eventKeys(await keys.slot(key));
      return isOne(await reopening.run([deadLettered], []));
    },
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

function admissionOf(reply: unknown): Admission {
  const number = Number(reply);
  if (number > 0) return { status: 'admitted', attempt: number };
  const status = REFUSALS.get(number);
  if (status === undefined) throw new Error('The server gave a reply that the script never gives.');
  return { status };
}
