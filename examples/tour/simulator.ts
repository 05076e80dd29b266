// The simulated service, in its own process.
import { inspectorPage } from '@call-webhooks/inspector';
import { startSimulator } from '@call-webhooks/simulator';

const simulator = await startSimulator({
  port: Number(process.env['SIMULATOR_PORT'] ?? 0),
  inspector: inspectorPage(),
  recordingFirst: 1,
});
process.send?.({ url: simulator.url });

process.once('disconnect', () => process.exit()); // the parent is gone
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void simulator.close().then(() => process.exit(0)));
