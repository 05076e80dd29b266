import { systemClock, type CallRecord, type Page } from '@call-webhooks/client';
import { createReceiver, generateSecret, memoryStore } from '@call-webhooks/core';
import type { CallsClient } from '@call-webhooks/recovery';
import { HOUR, MINUTE, STARTED_AT } from './world.ts';

export const clock = { ...systemClock, now: () => STARTED_AT + 24 * HOUR };
export const since = new Date(STARTED_AT + 12 * HOUR);

/** A receiver whose store is as old as it has to be, and what it handled. */
export function oldReceiver(maxInFlight = 10) {
  const handled: string[] = [];
  let time = STARTED_AT;
  const store = memoryStore({ now: () => time });
  const on = {
    'call:completed': ({ callId }: { callId?: unknown }) => void handled.push(String(callId)),
  };
  const logger = { warn: () => undefined, error: () => undefined };
  const receiver = createReceiver({ secret: generateSecret(), store, on, logger, maxInFlight });
  time = clock.now();
  return { handled, receiver };
}

/** A service that has these pages. */
export function listing(pages: readonly (readonly CallRecord[])[]) {
  const asked: (string | undefined)[] = [];
  const client: CallsClient = {
    baseUrl: 'https://service.example',
    calls: {
      list({ next } = {}) {
        asked.push(next);
        const index = Number(next ?? 0);
        const following = index + 1 < pages.length ? String(index + 1) : undefined;
        const page: Page<CallRecord> = {
          results: pages[index] ?? [],
          next: following,
          hasNext: following !== undefined,
          raw: {},
        };
        return Promise.resolve(page);
      },
      recording: () => Promise.reject(new Error('not asked for')),
    },
  };
  return { asked, client };
}

export const call = (hour: number, more: object = {}): CallRecord => ({
  _id: `c${String(hour)}`,
  createdAt: STARTED_AT + hour * HOUR,
  endedAt: STARTED_AT + hour * HOUR + MINUTE,
  ...more,
});
