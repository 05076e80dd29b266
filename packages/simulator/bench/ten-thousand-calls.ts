// 10,000 calls through the simulator in one run: 30,000 events over real HTTP to a receiver in
// a process of its own. Prints how long it took, and how much memory it needed at most.
// Usage: npm run bench -w @call-webhooks/simulator [-- calls]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startSimulator } from '@call-webhooks/simulator';

const calls = Number(process.argv[2] ?? 10_000);
const receiver = fork(fileURLToPath(new URL('receiver.ts', import.meta.url)));
const [{ url }] = (await once(receiver, 'message')) as [{ url: string }];

const simulator = await startSimulator({ clock: 'manual', seed: 'bench' });
simulator.rules.forwardTo(url);
const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`;
const before = process.memoryUsage.rss();
const cpuBefore = process.cpuUsage();
const started = performance.now();

for (let placed = 0; placed < calls; placed++) simulator.calls.place();
await simulator.clock.runUntilIdle();

const seconds = (performance.now() - started) / 1_000;
const { user, system } = process.cpuUsage(cpuBefore);
const { acknowledged = 0 } = simulator.events.counts();
receiver.send('how many?');
const [{ received }] = (await once(receiver, 'message')) as [{ received: number }];
receiver.disconnect();
await simulator.close();

console.log(`calls          ${String(calls)}`);
console.log(`events     ${String(acknowledged)} acknowledged, ${String(received)} received`);
console.log(`time           ${seconds.toFixed(1)} s`);
console.log(`CPU            ${((user + system) / 1e6).toFixed(1)} s of the simulator's process`);
console.log(`a second       ${(acknowledged / seconds).toFixed(0)} events`);
console.log(
  `memory         ${megabytes(before)} before, ${megabytes(process.resourceUsage().maxRSS * 1_024)} at most`,
);
process.exitCode = acknowledged === 3 * calls && received === 3 * calls ? 0 : 1;
