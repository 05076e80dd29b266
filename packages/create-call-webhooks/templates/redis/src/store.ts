import { redisStore } from '@call-webhooks/redis';
import { Redis } from 'ioredis';
//: if node
import { config } from './config.ts';
//: end

//: if node
export const redis = new Redis(config.redisUrl, { commandTimeout: 5_000 });
//: end
//: if next
const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', {
  commandTimeout: 5_000,
  lazyConnect: true, // `next build` imports this file, and has no Redis
});
//: end
redis.on('error', (error) => {
  console.warn(`Redis: ${error.message}`);
});

/** Remembers which events are done, for all processes of this app. */
export const store = redisStore(redis);
