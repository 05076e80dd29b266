import { Redis } from 'ioredis';
import { importPackage } from '../checkout.ts';
import { startRedis } from '../stores/servers.ts';
import { eventNumber, idsBeside, type Database } from './filled-store.ts';

const DAY_MS = 86_400_000;
/** Events of one script; the server answers nobody else meanwhile. */
const CHUNK = 10_000;

/** ARGV: the numbers of the first and the last event, and of the first with a webhook id. The names of `eventNumber`, in the keys of the store. */
const EACH = (work: string) => `
for number = ARGV[1], ARGV[2] do
  local hash = redis.sha1hex(string.format('%d', number))
  local slot = 'call-webhooks:{' .. string.sub(hash, 1, 24) .. ':call:completed}'
  local id, event = slot .. ':id:' .. string.sub(hash, 1, 36), slot .. ':event'
  ${work}
end`;
const FILL = EACH(`
  local token = string.sub(hash, 5)
  if number >= tonumber(ARGV[3]) then redis.call('SET', id, token, 'PX', ${String(DAY_MS)}) end
  redis.call('SET', event, 'done ' .. token, 'PX', ${String(DAY_MS)})`);
/**
 * The server takes its time to sweep few expired keys among many: too long for a benchmark. Without
 * this, a full store would grow beyond the size at which the server rebuilds its table.
 */
const REMOVE_IDS = EACH(`redis.call('UNLINK', id)`);
const REMOVE_EVENTS = EACH(`redis.call('UNLINK', event)`);

/** Each size in a database of its own, on one server. */
export async function openRedis(root: string): Promise<Database> {
  const { redisStore } = await importPackage<typeof import('@call-webhooks/redis')>(root, 'redis');
  const server = await startRedis();
  const clients: Redis[] = [];

  async function each(client: Redis, script: string, from: number, to: number, idsFrom = from) {
    for (let first = from; first < to; first += CHUNK)
      await client.eval(script, 0, first, Math.min(first + CHUNK, to) - 1, idsFrom);
  }

  return {
    async fill(size) {
      const client = new Redis(server.port, '127.0.0.1', { db: clients.length });
      clients.push(client);
      const before = await usedMemory(client);
      const firstId = size - idsBeside(size);
      await each(client, FILL, 0, size, firstId);
      const bytesPerEvent = ((await usedMemory(client)) - before) / size;
      let oldest = 0;
      return {
        store: redisStore(client),
        known: eventNumber(size - 1),
        bytesPerEvent,
        count: async () => (await client.dbsize()) - idsBeside(size),
        async expire(number) {
          await each(client, REMOVE_EVENTS, oldest, oldest + number);
          await each(client, REMOVE_IDS, firstId + oldest, firstId + oldest + number);
          oldest += number;
        },
      };
    },
    async stop() {
      for (const client of clients) client.disconnect();
      await server.stop();
    },
  };
}

const usedMemory = async (client: Redis) =>
  Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
