// A simulator with messages, in a process that can be killed. The same seed and start time give the
// same ids again, so a cursor stays valid after a restart.
import { startSimulator } from '@call-webhooks/simulator';
import { fillMessages } from '../messages.ts';

const input = JSON.parse(process.argv[2] ?? '{}') as { port: number; events: number };
const simulator = await startSimulator({
  clock: 'manual',
  seed: 1,
  startAt: Date.UTC(2026, 0, 31, 12),
  apiToken: 'token-of-the-test',
  pageSize: 10,
  port: input.port,
});
fillMessages(simulator, input.events);
process.send?.({ url: simulator.url, apiToken: simulator.apiToken });
