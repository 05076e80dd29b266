import type { Logger } from '@call-webhooks/core';
import type { Admission, Claim, StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import { checkOptions, option, safeLogger } from '@call-webhooks/core/internal';
import { scriptClient, type RedisClient } from './clients.ts';
import { EventCalls, spansSlots } from './event-calls.ts';
import { REFUSALS, type EventCallName } from './event-script.ts';
import { evictionWarning } from './eviction-warning.ts';
import { GroupLeases } from './group-leases.ts';
import { Keys, prefixOption } from './keys.ts';
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
  const groups = new GroupLeases(calls);
  const eviction = evictionWarning(scripts, safeLogger(settings.logger));
  eviction.check();

  /** @returns a reply of the script: the attempt, or one of `REFUSALS` */
  async function admit({ webhookId, key, token, replayUntil, ...claim }: Claim): Promise<unknown> {
    const id = await keys.id(webhookId);
    const forgetIdAt = Math.ceil(replayUntil) + CLOCK_DIFFERENCE_MS;
    const remember = () => calls.run('remember', [id], [token, forgetIdAt]);
    if (key === undefined) return remember();

    const event = await keys.event(key);
    const group = claim.group === undefined ? '' : await keys.group(claim.group);
    const lease = [token, whole(claim.leaseMs), group];
    if (!calls.isCluster)
      try {
        return await calls.run('claim', [id, event], [...lease, forgetIdAt]);
      } catch (error) {
        if (!spansSlots(error)) throw error;
      }
    // A cluster has the id and the event in different slots. If a step fails, so does the claim; its
    // token may repeat it.
    const seen = await remember();
    if (!isOne(seen)) return seen;
    const admitEvent = (state: string) => calls.run('admit', [event], [...lease, state]);
    if (group === '') return admitEvent('');
    return groups.admit(group, token, claim.leaseMs, admitEvent);
  }

  /** A call about an event that was admitted before. */
  const ofEvent = async (name: EventCallName, key: string, args: (string | number)[]) =>
    calls.run(name, [await keys.event(key)], args);

  return {
    rememberFor,
    async admit(claim) {
      const reply = await admit(claim);
      eviction.check();
      return admissionOf(reply);
    },
    async complete(key, token, mark) {
      return groups.free(token, await ofEvent('complete', key, [token, mark ?? 'done']));
    },
    async release(key, token) {
      return groups.free(token, await ofEvent('release', key, [token]));
    },
    async extend(key, token, leaseMs) {
      const reply = await ofEvent('extend', key, [token, whole(leaseMs)]);
      return groups.extend(token, leaseMs, reply);
    },
    reopen: async (key) => isOne(await ofEvent('reopen', key, [])),
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
