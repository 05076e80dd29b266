// A receiver that reconciles in a process of its own, so that it can be killed. What its handler does is
// in a file that survives the process.
import { appendFileSync } from 'node:fs';
import { createClient } from '@call-webhooks/client';
import { createReceiver } from '@call-webhooks/core';
import { reconcile } from '../../src/index.ts';
import { openEngine, type EngineName } from '../redrive/engines.ts';

/** What the process is started with: JSON in its only argument. */
export interface RecovererInput {
  engine: EngineName;
  url: string;
  effects: string;
  secret: string;
  service: { baseUrl: string; apiToken: string };
  /** Milliseconds since the epoch. */
  since: number;
  /** In this run of the handler the process is killed, before the effect. */
  killedInRun?: number;
}

const input = JSON.parse(process.argv[2] ?? '') as RecovererInput;
process.on('disconnect', () => process.exit(1));
const { store, close } = await openEngine(input.engine, input.url);
let runs = 0;
const receiver = createReceiver({
  secret: input.secret,
  store,
  leaseFor: 1_000, // of the process that is killed
  on: {
    'call:completed': ({ callId }, { source }) => {
      runs += 1;
      if (runs === input.killedInRun) process.kill(process.pid, 'SIGKILL');
      appendFileSync(input.effects, `${source} ${String(callId)}\n`);
    },
  },
});
const client = createClient(input.service);
const since = new Date(input.since);
const result = await reconcile({ client, receiver, since, concurrency: 1 });
process.send?.({ result });
await close();
process.disconnect();
