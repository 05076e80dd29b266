import { redisStore } from '@call-webhooks/redis';
import type { Redis } from 'ioredis';
import { RealTimeStore } from './real-time-store.ts';

/** Both in milliseconds: the test's fake clock, and the real one that the server uses. */
export interface Clocks {
  readonly fake: () => number;
  readonly real: () => number;
}

const REDUCE_TTLS = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`;

/**
 * `redisStore` on a real, empty server that follows a fake clock. The server's own clock cannot be
 * changed, but it keeps time only as times to live. So before each call, all of them are reduced (or
 * extended) by as much as the clocks have drifted apart.
 */
export async function redisOnFakeClock(
  client: Redis,
  { fake, real }: Clocks,
): Promise<RealTimeStore> {
  await client.flushall();
  // Nothing is warned of: the client has no socketTimeout, because it would follow the fake clock.
  const logger = { warn: () => undefined, error: console.error };
  const store = redisStore(client, { now: fake, logger });
  let drift = fake() - real();
  const followFakeClock = () => {
    const now = fake() - real();
    const ms = now - drift;
    drift = now;
    return client.eval(REDUCE_TTLS, 0, ms);
  };
  return new RealTimeStore(store, followFakeClock);
}
