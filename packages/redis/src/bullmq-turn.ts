import { checkDatabase } from './database.ts';
import { explained, whole } from './scripts.ts';
import { clientOf, type HasRedisClient } from './server-warnings.ts';

/** KEYS: the turn. ARGV: token, milliseconds. Returns 1 if the turn is this process's now. */
const TURN = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** What is used of the client of a queue: ioredis, or what BullMQ 6 makes of the others. */
interface DefiningClient {
  defineCommand(name: string, definition: { lua: string; numberOfKeys: number }): unknown;
  callWebhooksTurn?: (keysAndValues: string[]) => Promise<unknown>;
}

/** A queue of BullMQ, as far as its keys are concerned. */
export interface KeyedQueue extends HasRedisClient {
  readonly name?: string;
  readonly opts?: { prefix?: string };
}

/**
 * Takes the turn to remove what has expired, or keeps it. Where BullMQ has another engine than Redis, everybody
 * has it.
 * @returns `false` while it is the turn of another process
 */
export async function takeBullmqTurn(
  queue: KeyedQueue,
  token: string,
  leaseMs: number,
): Promise<boolean> {
  const client = (await clientOf(queue)) as Partial<DefiningClient> | undefined;
  if (typeof client?.defineCommand !== 'function') return true;
  await checkDatabase(client);
  if (!client.callWebhooksTurn)
    client.defineCommand('callWebhooksTurn', { lua: TURN, numberOfKeys: 1 });
  const key = `${queue.opts?.prefix ?? 'bull'}:${queue.name ?? ''}:call-webhooks-removal`;
  try {
    return Number(await client.callWebhooksTurn?.([key, token, String(whole(leaseMs))])) === 1;
  } catch (error) {
    throw explained(error);
  }
}
