import { LRUCache } from 'lru-cache';
import { handle } from './shared.ts';

const MAX = 100_000;
const ids = new LRUCache<string, true>({ max: MAX, ttl: 600_000 });
const events = new LRUCache<string, true>({ max: MAX, ttl: 86_400_000 });

/**
 * What a careful user adds to a library that only verifies: one lru-cache for replays and one for
 * duplicates, as large as our memory store is by default.
 */
export function handleOnce(webhookId: string, payload: unknown): void {
  const event = payload as { callId: string; eventName: string };
  const key = `${event.callId}:${event.eventName}`;
  if (ids.has(webhookId)) throw new Error('replayed');
  ids.set(webhookId, true);
  if (events.has(key)) return;
  handle(event);
  events.set(key, true);
}
