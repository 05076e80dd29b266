// A receiver on plain node:http. Sends `ready` once it listens.
import { createServer } from 'node:http';
import { createNodeHandler } from '@call-webhooks/core/node';
import { buggyStore } from '../buggy-store.ts';
import { LEASE_MS } from '../engines/engine.ts';
import { openEngine } from '../engines/open-engine.ts';
import { journaledHandlers } from '../handlers.ts';
import { Journal } from '../journal.ts';
import { journaledStore } from '../journaled-store.ts';
import { monitorStalls } from '../monitors.ts';
import { effectsOf, receiverInput } from './receiver-input.ts';

/** Less than the service's limit, as a receiver's 20 s are less than the 30 s of the real service. */
const ACK_MS = 1_000;

const input = receiverInput();
const { url, seed, secret, port, bug, bugFolder } = input;
const journal = new Journal(input.journal);
monitorStalls(journal);
const engine = await openEngine(input.engine);
const real = await engine.store(url);
const store = journaledStore(bug ? buggyStore(real, bug, bugFolder) : real, journal);
const effects = await effectsOf(input, engine);
const { logger, ...handlers } = journaledHandlers(seed, journal, input.fixedFile, effects);

const handle = createNodeHandler({
  secret,
  store,
  leaseFor: LEASE_MS,
  ackWithin: ACK_MS,
  logger,
  ...(input.queued ? { queue: await engine.queue(url) } : handlers),
});
createServer((request, response) => void handle(request, response)).listen(port, '127.0.0.1', () =>
  process.send?.('ready'),
);
