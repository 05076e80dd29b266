// A worker on the queue that the receivers fill. Says `ready` once it has begun.
import { engineOf } from '../engines/engine-of.ts';
import { journalHandlers } from '../handlers.ts';
import { Journal } from '../journal.ts';
import { watchStalls } from '../stall-watch.ts';
import { programInput } from './input.ts';

const input = programInput();
const journal = new Journal(input.journal);
watchStalls(journal);
const engine = await engineOf(input.engine);
await engine.startWorker(input.url, journalHandlers(input.seed, journal));
process.send?.('ready');
