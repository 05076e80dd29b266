import {
  checkOptions,
  option,
  safeLogger,
  type Admission,
  type Claim,
  type Logger,
  type StoreWithoutCompleteIn,
} from '@call-webhooks/core';
import { scriptClient, type RedisClient } from './clients.ts';
import { evictionWarning } from './eviction-warning.ts';
import { GroupLeases } from './group-leases.ts';
import { Keys, prefixOption } from './keys.ts';
import { isOne, ScriptRunner, whole } from './script-runner.ts';
import {
  ADMIT,
  COMPLETE,
  EXTEND,
  LOAD_CURSOR,
  PING,
  REFUSALS,
  RELEASE,
  REOPEN,
  SAVE_CURSOR,
} from './scripts.ts';

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
 * Keeps webhook ids and events in Redis 6.2 or newer, or Valkey, for any number of machines. Each
 * call is one script in one round trip. The client stays yours: connect it before, and close it after
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
  const admitting = script(ADMIT);
  const completing = script(COMPLETE);
  const releasing = script(RELEASE);
  const extending = script(EXTEND);
  const reopening = script(REOPEN);
  const loading = script(LOAD_CURSOR);
  const saving = script(SAVE_CURSOR);
  const pinging = script(PING);
  const groups = new GroupLeases(scripts);
  const eviction = evictionWarning(scripts, safeLogger(settings.logger));
  eviction.check();

  return {
    rememberFor,
    async admit({ webhookId, key, token, replayUntil, leaseMs, group }: Claim): Promise<Admission> {
      const names = [await keys.webhook(webhookId, key)];
      if (key !== undefined) {
        const { attempts, lease, done, deadLettered } = await keys.event(key);
        names.push(attempts, lease, done, deadLettered);
      }
      const until = Math.ceil(replayUntil) + CLOCK_DIFFERENCE_MS;
      const args = [token, until, whole(leaseMs), rememberFor];
      const reply = await (group === undefined
        ? admitting.run(names, args)
        : groups.admit(await keys.group(group), token, leaseMs, (name, state) =>
            admitting.run(names, [...args, name, state]),
          ));
      eviction.check();
      return admissionOf(reply);
    },
    async complete(key, token, mark) {
      const { lease, done, deadLettered, attempts } = await keys.event(key);
      const names = [lease, mark === undefined ? done : deadLettered, attempts];
      return groups.free(token, await completing.run(names, [token, rememberFor]));
    },
    async release(key, token) {
      const { lease } = await keys.event(key);
      return groups.free(token, await releasing.run([lease], [token]));
    },
    async extend(key, token, leaseMs) {
      const { lease } = await keys.event(key);
      return groups.extend(token, leaseMs, await extending.run([lease], [token, whole(leaseMs)]));
    },
    async reopen(key) {
      const { deadLettered } = await keys.event(key);
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
