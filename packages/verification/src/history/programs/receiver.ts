// A receiver on plain node:http. Sends `ready` once it listens.
import { createServer } from 'node:http';
import { createNodeHandler } from '@call-webhooks/core/node';
import { LEASE_MS } from '../engines/engine.ts';
import { openEngine } from '../engines/open-engine.ts';
import { journaledHandlers } from '../handlers.ts';
import { Journal } from '../journal.ts';
import { journaledStore } from '../journaled-store.ts';
import { monitorStalls } from '../monitors.ts';
import { receiverInput } from './receiver-input.ts';

/** Less than the service's limit, as a receiver's 20 s are less than the 30 s of the real service. */
const ACK_MS = 1_000;

const input = receiverInput();
const { url, seed, secret, port, exactlyOnce } = input;
const journal = new Journal(input.journal);
monitorStalls(journal);
const engine = await openEngine(input.engine);
const store = journaledStore(await engine.store(url), journal);
const effects = exactlyOnce ? await engine.effects?.(url) : undefined;
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
