// A receiver on plain node:http, in a process of its own. Sends `ready` once it listens.
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { HandlerContext } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import type { EngineName } from '../history/engines/engine.ts';
import { openEngine } from '../history/engines/open-engine.ts';
import { monotonicMs } from '../history/journal.ts';
import { seededRandom } from '../history/seeded-random.ts';
import { openCallJournal, type RunEntry } from './journal.ts';

/** What it is started with: JSON in its only argument. */
export interface ReceiverInput {
  engine: EngineName;
  url: string;
  journal: string;
  seed: string;
  secret: string;
  port: number;
  oneAtATime: boolean;
}

/** Longer than any handler takes, and than a busy machine keeps a process waiting. */
const LEASE_MS = 5_000;
const ACK_MS = 3_000;

const input = JSON.parse(process.argv[2] ?? '') as ReceiverInput;
// Without its parent nobody would stop this process.
process.on('disconnect', () => process.exit(1));
const { seed, secret } = input;
const write = openCallJournal(input.journal);
const nothing = () => undefined;

async function handle(event: object, { attempt }: HandlerContext): Promise<void> {
  const { callId, eventName } = event as { callId: string; eventName: string };
  const note = (kind: RunEntry['kind']) => {
    write({ kind, at: monotonicMs(), pid: process.pid, callId, eventName, attempt });
  };
  note('begin');
  const [kind, length] = ['kind', 'length'].map((what) =>
    seededRandom(seed, what, callId, eventName),
  ) as [number, number];
  await delay(kind < 0.03 ? 200 + 400 * length : 15 * length);
  if (seededRandom(seed, 'fails', callId, eventName, attempt) < 0.05) {
    note('failed');
    throw new Error('the CRM is down');
  }
  note('end');
}

const hook = createNodeHandler({
  secret,
  store: await (await openEngine(input.engine)).store(input.url),
  ...(input.oneAtATime && { oneAtATime: true }),
  leaseFor: LEASE_MS,
  ackWithin: ACK_MS,
  on: { 'call:completed': handle, 'call:recording-available': handle },
  logger: { warn: nothing, error: nothing },
  onOutcome({ outcome, waitMs }) {
    if (waitMs !== undefined) write({ kind: 'wait', outcome, ms: waitMs });
  },
});
createServer((request, response) => void hook(request, response)).listen(
  input.port,
  '127.0.0.1',
  () => process.send?.('ready'),
);
