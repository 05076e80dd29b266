// The service: the simulator, with its retries in a small world. Says `ready` once it listens; ends
// when everything was acknowledged, with all of its attempts in the journal.
import { startSimulator } from '@call-webhooks/simulator';
import { monotonicMs } from '../clock.ts';
import { Journal } from '../journal.ts';
import { startBalancer } from '../service/balancer.ts';
import { deliveryLines } from '../service/delivery-lines.ts';
import { allAcknowledged, placeCalls } from '../service/place-calls.ts';

/** What it is told, as JSON in its only argument. */
export interface ServiceInput {
  journal: string;
  seed: string;
  secret: string;
  /** The receivers. */
  ports: readonly number[];
  /** For how long calls are placed; milliseconds. */
  ms: number;
  /** How long after that what is not acknowledged may still be retried; milliseconds. */
  calmMs: number;
}

process.on('disconnect', () => process.exit(1));
const input = JSON.parse(process.argv[2] ?? '') as ServiceInput;

const simulator = await startSimulator({
  seed: input.seed,
  // As the service's 30 s and 5 min: with a receiver's lease in between, as there.
  acknowledgeWithin: 1_200,
  retryEvery: 300,
  retryJitter: 0.3,
  maxAttempts: 1_000,
  maxInFlight: 2_000,
  chaos: { concurrentDuplicates: 0.4, dropAnswer: 0.03, replay: 0.03 },
});
simulator.rules.forwardTo(await startBalancer(input.ports), { secret: input.secret });
process.send?.('ready');

await placeCalls(simulator, input.seed, input.ms);
await allAcknowledged(simulator, monotonicMs() + input.calmMs);
const journal = new Journal(input.journal);
const offset = monotonicMs() - simulator.clock.now();
for (const delivery of simulator.deliveries.list())
  for (const line of deliveryLines(delivery, offset)) journal.write(line);
await simulator.close();
process.exit(0);
