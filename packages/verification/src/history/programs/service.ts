// The service: the simulator, with its retries in a small world. Says `ready` once it listens; ends
// when everything was acknowledged, with all of its attempts in the journal.
import { startSimulator } from '@call-webhooks/simulator';
import { monotonicMs } from '../clock.ts';
import { Journal } from '../journal.ts';
import { deliveryLines } from '../service/delivery-lines.ts';
import { allAcknowledged, placeCalls } from '../service/place-calls.ts';

/** What it is told, as JSON in its only argument. */
export interface ServiceInput {
  journal: string;
  seed: string;
  secret: string;
  /** Of the webhook. */
  url: string;
  /** For how long calls are placed; milliseconds. */
  ms: number;
  /** It ends when it could deliver nothing for so long; milliseconds. */
  quietMs: number;
}

process.on('disconnect', () => process.exit(1));
const input = JSON.parse(process.argv[2] ?? '') as ServiceInput;

const simulator = await startSimulator({
  seed: input.seed,
  // The service's 30 s and 5 min in a small world. Copies of an event ask for its lease meanwhile.
  acknowledgeWithin: 1_500,
  retryEvery: 600,
  retryJitter: 0.4,
  maxAttempts: 1_000,
  // Retries are 500 times as frequent as the service's. Without a limit those of one outage would
  // keep this machine so busy that none is answered in time any more.
  maxInFlight: 100,
  chaos: { concurrentDuplicates: 0.4, dropAnswer: 0.03, replay: 0.03 },
});
simulator.rules.forwardTo(input.url, { secret: input.secret });
process.send?.('ready');

await placeCalls(simulator, input.seed, input.ms);
await allAcknowledged(simulator, input.quietMs);
const journal = new Journal(input.journal);
const offset = monotonicMs() - simulator.clock.now();
for (const delivery of simulator.deliveries.list())
  for (const line of deliveryLines(delivery, offset)) journal.write(line);
await simulator.close();
process.exit(0);
