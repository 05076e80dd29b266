import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { serveLocally } from '@call-webhooks/contract-tests';
import { exchange } from '@call-webhooks/contract-tests/raw-socket';
import express from 'express';
import fastify from 'fastify';

const DOCUMENT = readFileSync(new URL('../deployment.md', import.meta.url), 'utf8');

/** Runs the catch-all route that the docs show for a framework. */
function addCatchAll(framework: string, app: object): void {
  const blocks = [...DOCUMENT.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
  const code = blocks.find((block) => block.startsWith(`// ${framework}`));
  runInContext(code ?? '', createContext({ app }));
}

const servers: Record<string, () => Promise<{ origin: string; close(): Promise<void> }>> = {
  async Express() {
    const app = express().all('/hook', (_request, response) => void response.send('ok'));
    addCatchAll('Express', app);
    return serveLocally(app);
  },
  async Fastify() {
    const app = fastify();
    addCatchAll('Fastify', app);
    app.all('/hook', () => 'ok');
    return { origin: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
  },
};

it.each(Object.keys(servers))(
  '%s never pauses the rule with the documented route',
  async (name) => {
    const { origin, close } = await servers[name]!();
    for (const path of ['/hoook', '//hook', '/x/../hook', '/hook%2F', '/hook%', '*'])
      for (const method of ['POST', 'GET', 'PROPFIND', 'FOO']) {
        const request = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
        const { statuses } = await exchange(origin, [Buffer.from(request)]);
        const [status] = statuses;
        expect({ path, method, status }).not.toMatchObject({ status: 404 });
        expect([200, 400, 503]).toContain(status);
      }
    await close();
  },
);
