import { adapterContractTests, serveLocally } from '@call-webhooks/contract-tests';
import express from 'express';
import express4 from 'express4';
import { callWebhooks } from '../src/index.ts';

for (const [name, framework] of [
  ['Express 5', express],
  ['Express 4', express4],
] as const) {
  adapterContractTests({
    name,
    async mount(options) {
      const handler = callWebhooks(options);
      const { origin, close } = await serveLocally(framework().all('/hook', handler));
      return { url: `${origin}/hook`, receiver: handler.receiver, close };
    },
  });
}
