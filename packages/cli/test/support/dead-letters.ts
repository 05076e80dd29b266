import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { DeadLetters, HandlerContext, ReceiverOptions, Store } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { deadLetter } from '@call-webhooks/contract-tests';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { SECRET } from './receiver.ts';

export const logger = { warn: () => undefined, error: () => undefined };
/** What a test opened. */
export const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A store in a file, a running receiver on it, and the command line beside them. */
export async function setup(options: Partial<ReceiverOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cli-letters-'));
  closing.push(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'calls.db');
  const db = new Database(file);
  closing.push(() => db.close());
  const [store, deadLetters] = [sqliteStore(db), sqliteDeadLetters(db)];
  const handled: string[] = [];
  const state = { broken: false };
  const hook = createNodeHandler({
    secret: SECRET,
    on: {
      'call:completed': (_event: unknown, { key = '' }: HandlerContext) => {
        if (state.broken) throw new Error('still broken');
        handled.push(key);
      },
    },
    ...{ store, deadLetter: deadLetters, logger },
    ...options,
  });
  const server = createServer((request, response) => void hook(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
  const env = { CALL_WEBHOOKS_STORE: `sqlite:${file}`, CALL_WEBHOOK_SECRET: SECRET };
  return { deadLetters, store, handled, state, url, env, file, hook };
}

/** Letters of events that the store knows as dead-lettered. */
export async function fill(
  { deadLetters, store }: { deadLetters: DeadLetters; store: Store },
  count: number,
  more: Parameters<typeof deadLetter>[0] = {},
) {
  const keys: string[] = [];
  for (let at = 0; at < count; at++) {
    const letter = deadLetter({ failedAt: new Date(Date.UTC(2026, 0, 2, 3, 4, at)), ...more });
    const [key = '', token] = [letter.key, `token-${String(letter.key)}`];
    await store.admit({ key, token, webhookId: token, replayUntil: Date.now(), leaseMs: 60_000 });
    await store.complete(key, token, 'dead-lettered');
    await deadLetters.put(letter);
    keys.push(key);
  }
  return keys;
}

export const idsOf = async (deadLetters: DeadLetters) =>
  (await deadLetters.list({ limit: 1_000 })).letters.map(({ id }) => id);
