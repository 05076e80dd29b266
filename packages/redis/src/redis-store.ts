import type { Admission, Claim, Logger, Store } from '@call-webhooks/core';
import { scriptClient, type RedisClient } from './clients.ts';
import { evictionWarning } from './eviction-warning.ts';
import { Keys } from './keys.ts';
import { ScriptRunner } from './script-runner.ts';
import { ADMIT, COMPLETE, EXTEND, PING, REFUSALS, RELEASE } from './scripts.ts';

export interface RedisStoreOptions {
  /** All keys begin with it; `'call-webhooks'` by default. Receivers that share a prefix share their memory. */
  prefix?: string | undefined;
  /** How long a handled event is known as a duplicate; milliseconds, 24 hours by default, at least 10 minutes. */
  rememberFor?: number | undefined;
  /** Told when the server may evict; `console` by default. */
  logger?: Logger | undefined;
}

const DAY_MS = 86_400_000;
const MIN_REMEMBER_MS = 600_000;
/** The clocks of receivers and server may differ by this much, and no replay passes. */
const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * The store for many machines, on Redis 6.2+ or Valkey: each call is one script, in one round trip.
 * The client stays yours: connect it before, and close it after the receiver.
 * @param client of ioredis, node-redis, valkey-glide or `@upstash/redis`, told apart by their methods
 * @throws TypeError for another client, RangeError for a `rememberFor` that is too short
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  const { prefix = 'call-webhooks', rememberFor = DAY_MS, logger = console } = options;
  if (!(rememberFor >= MIN_REMEMBER_MS))
    throw new RangeError('redisStore: rememberFor must be at least 600000 ms (10 minutes).');
  const scripts = scriptClient(client);
  const keys = new Keys(prefix);
  const remember = Math.ceil(rememberFor);
  const script = (text: string) => new ScriptRunner(scripts, text);
  const admitting = script(ADMIT);
  const completing = script(COMPLETE);
  const releasing = script(RELEASE);
  const extending = script(EXTEND);
  const pinging = script(PING);
  const eviction = evictionWarning(scripts, logger);
  eviction.check();

  return {
    async admit({ webhookId, key, token, replayUntil, leaseMs }: Claim): Promise<Admission> {
      const names = [await keys.webhook(webhookId, key)];
      if (key !== undefined) {
        const { attempts, lease, done } = await keys.event(key);
        names.push(attempts, lease, done);
      }
      const until = Math.ceil(replayUntil) + CLOCK_DIFFERENCE_MS;
      const reply = await admitting.run(names, [token, until, whole(leaseMs), remember]);
      eviction.check();
      return admissionOf(reply);
    },
    async complete(key, token) {
      const { lease, done, attempts } = await keys.event(key);
      return isOne(await completing.run([lease, done, attempts], [token, remember]));
    },
    async release(key, token) {
      const { lease } = await keys.event(key);
      return isOne(await releasing.run([lease], [token]));
    },
    async extend(key, token, leaseMs) {
      const { lease } = await keys.event(key);
      return isOne(await extending.run([lease], [token, whole(leaseMs)]));
    },
    ping: () => pinging.run([keys.ping], []),
  };
}

function admissionOf(reply: unknown): Admission {
  const number = Number(reply);
  if (number > 0) return { status: 'admitted', attempt: number };
  const status = REFUSALS.get(number);
  if (status === undefined)
    throw new Error('The server gave an answer that the script never gives.');
  return { status };
}

/** The server takes whole milliseconds, and none that are over already. */
const whole = (ms: number) => Math.max(1, Math.ceil(ms));

/** Some clients give numbers, some big ones, some texts. */
const isOne = (reply: unknown) => Number(reply) === 1;
