import { redisStore } from '@call-webhooks/redis';
import type { Redis } from 'ioredis';
import { OutsideStore } from './outside-store.ts';

/** Milliseconds: the turned clock, and the one that the server goes by. */
export interface Clocks {
  readonly turned: () => number;
  readonly real: () => number;
}

const AGE = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`;

/**
 * `redisStore` on a real server, empty, over turned time. The server's clock can't be turned, so
 * before each call all that is kept is made older (or younger) by what the two clocks have drifted
 * apart: times to live are all that the server knows of time. What is named in absolute time, until
 * when an id is remembered, is translated.
 */
export async function turnedRedis(client: Redis, { turned, real }: Clocks): Promise<OutsideStore> {
  await client.flushall();
  const store = redisStore(client);
  let drift = turned() - real();
  const age = () => {
    const now = turned() - real();
    const ms = now - drift;
    drift = now;
    return client.eval(AGE, 0, ms);
  };
  const translated = {
    ...store,
    admit: (claim: Parameters<typeof store.admit>[0]) =>
      store.admit({ ...claim, replayUntil: claim.replayUntil + real() - turned() }),
  };
  return new OutsideStore(translated, age);
}
