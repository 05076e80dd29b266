import { adapterContractTests } from '@call-webhooks/contract-tests';
import fastify from 'fastify';
import { createReceiver } from '@call-webhooks/core';
import { callWebhooks, ready } from '../src/index.ts';

adapterContractTests({
  name: 'Fastify 5',
  async mount(options, graceMs) {
    // The receiver's lines go to the logger of the request, so the contract tests read them there.
    const write = (line: string) => {
      const { msg, ...fields } = JSON.parse(line) as { msg: string };
      options.logger?.warn(fields, msg);
    };
    const app = fastify({ logger: { level: 'warn', stream: { write } } });
    const receiver = createReceiver(options);
    app.register(callWebhooks({ path: '/hook', receiver, graceMs }));
    app.get('/ready', ready(receiver));
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const [url, readyUrl] = [`${origin}/hook`, `${origin}/ready`];
    return { url, readyUrl, receiver, close: () => app.close(), closesReceiver: true };
  },
});
