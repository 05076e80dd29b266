// An operator in a process of its own: redrives everything once it is told to, and exits. What its
// handlers do is in a journal that survives the process.
import { appendFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createReceiver, generateSecret, type HandlerContext } from '@call-webhooks/core';
import { redrive } from '../../src/index.ts';
import { openEngine } from './engines.ts';
import { isPoison, LEASE_MS, type JournalEntry, type OperatorInput } from './operator-input.ts';

const input = JSON.parse(process.argv[2] ?? '') as OperatorInput;
process.on('disconnect', () => process.exit(1));
const engine = await openEngine(input.engine, input.url);

function write(kind: JournalEntry['kind'], key: string): void {
  const entry: JournalEntry = { kind, key, pid: process.pid, at: Number(process.hrtime.bigint()) };
  appendFileSync(input.journal, `${JSON.stringify(entry)}\n`);
}

async function handle(_event: unknown, { key = '' }: HandlerContext): Promise<void> {
  write('begin', key);
  await delay(2);
  if (isPoison(key)) {
    write('failed', key);
    throw new Error('still broken');
  }
  write('effect', key);
}

const receiver = createReceiver({
  secret: generateSecret(),
  store: engine.store,
  deadLetter: engine.deadLetters,
  on: { 'call:completed': handle },
  leaseFor: LEASE_MS,
  storeTimeout: 10_000,
  logger: { warn: () => undefined, error: () => undefined },
});
process.send?.('ready');
await once(process, 'message');
const { deadLetters } = engine;
const result = await redrive({ receiver, deadLetters, leaseFor: LEASE_MS });
process.send?.(result);
await engine.close();
process.disconnect();
