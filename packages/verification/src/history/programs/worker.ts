// A worker on the queue that the receivers fill. Sends `ready` once it has started.
import { openEngine } from '../engines/open-engine.ts';
import { journaledHandlers } from '../handlers.ts';
import { Journal } from '../journal.ts';
import { monitorStalls } from '../monitors.ts';
import { receiverInput } from './receiver-input.ts';

const input = receiverInput();
const journal = new Journal(input.journal);
monitorStalls(journal);
const engine = await openEngine(input.engine);
const effects = input.exactlyOnce ? await engine.effects?.(input.url) : undefined;
const handlers = journaledHandlers(input.seed, journal, input.fixedFile, effects);
await engine.startWorker(input.url, handlers, journal);
process.send?.('ready');
