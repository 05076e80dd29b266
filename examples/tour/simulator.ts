// The simulated service, in its own process.
import { startSimulator } from '@call-webhooks/simulator';

/** Where the command line looks for a simulator. */
const DEFAULT_PORT = 4777;

// Deliveries are signed by the clock that the tour advances, and the receiver follows it.
const start = (port: number) => startSimulator({ port, recordingFirst: 1, timestamps: 'clock' });
const simulator = await start(Number(process.env['SIMULATOR_PORT'] ?? DEFAULT_PORT)).catch(
  (error: unknown) => {
    // Another simulator runs: any free port will do.
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return start(0);
    throw error;
  },
);
process.send?.({ url: simulator.url });

process.once('disconnect', () => process.exit()); // the parent is gone
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void simulator.close().then(() => process.exit(0)));
