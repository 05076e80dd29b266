export { redisStore, type RedisStoreOptions } from './redis-store.ts';
export type {
  GlideClient,
  IoredisClient,
  NodeRedisClient,
  RedisClient,
  UpstashClient,
} from './clients.ts';
