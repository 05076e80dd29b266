// A receiver on bare node:http. Says `ready` once it listens.
import { createServer } from 'node:http';
import { createNodeHandler } from '@call-webhooks/core/node';
import { engineOf } from '../engines/engine-of.ts';
import { LEASE_MS } from '../engines/engine.ts';
import { journalHandlers } from '../handlers.ts';
import { journalStore } from '../journal-store.ts';
import { Journal } from '../journal.ts';
import { plant } from '../planted.ts';
import { watchStalls } from '../stall-watch.ts';
import { programInput } from './input.ts';

/** As a receiver's 20 s beside the service's 30 s. */
const ACK_MS = 1_000;

const input = programInput();
const { url, seed, secret, port, planted, folder } = input;
const journal = new Journal(input.journal);
watchStalls(journal);
const engine = await engineOf(input.engine);
const real = await engine.store(url);
const store = journalStore(planted ? plant(real, planted, folder) : real, journal);
const { logger, ...handlers } = journalHandlers(seed, journal);

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
