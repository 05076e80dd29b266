import * as runner from '@jest/globals';
import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import {
  deadLettersContractTests,
  queueContractTests,
  storeContractTests,
} from '@call-webhooks/store-tests';
import { memoryDeadLetters, memoryStore, ready } from '../src/index.ts';
import { createNodeHandler } from '../src/node.ts';
import { arrayQueue } from './array-queue.ts';

describe('the contract of adapters', () => {
  adapterContractTests({
    name: 'node:http',
    async mount(options) {
      const handler = createNodeHandler(options);
      const probed = ready(handler);
      const { origin, close } = await serveLocally(
        (request, response) =>
          void (request.url === '/ready' ? probed : handler)(request, response),
      );
      const [url, readyUrl] = [`${origin}/hook`, `${origin}/ready`];
      return { url, readyUrl, receiver: handler.receiver, close };
    },
  });
});

describe('the contract of stores', () => {
  storeContractTests(runner, {
    name: 'memoryStore',
    without: ['refusals', 'clock', 'size'],
    open() {
      let clock = 1_800_000_000_000;
      const now = () => clock;
      return Promise.resolve({
        store: memoryStore({ now }),
        now,
        advance: (ms) => void (clock += ms),
      });
    },
  });
});

describe('the contract of queues', () => {
  queueContractTests(runner, {
    name: 'an array in memory',
    lacks: ['worker-health', 'refusals'],
    open: ({ maxRuns, concurrency }) => Promise.resolve(arrayQueue(maxRuns, concurrency)),
  });
});

describe('the contract of dead letters', () => {
  deadLettersContractTests(runner, {
    name: 'memoryDeadLetters',
    without: ['refusals'],
    open() {
      let clock = 0;
      return Promise.resolve({
        deadLetters: memoryDeadLetters({ now: () => clock }),
        advance: (ms) => void (clock += ms),
      });
    },
  });
});
