import type { RequestListener } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { createNodeHandler } from '@call-webhooks/core/node';
import { generateSecret } from '@call-webhooks/core';
import { describeWithProgram, serveLocally, startSender } from '@call-webhooks/contract-tests';
import { eventBody } from '../src/matrix/delivery.ts';
import { PROXIES, startProxy, type ProxyProgram } from '../src/matrix/proxies.ts';

const secret = generateSecret();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The documented proxy in front of an upstream, and a sender that knows the secret. */
async function behind(program: ProxyProgram, upstream: RequestListener) {
  const { origin, close } = await serveLocally(upstream);
  closers.push(close);
  const proxy = await startProxy(program, Number(new URL(origin).port));
  closers.push(() => proxy.close());
  const at = (path: string) => startSender(`http://127.0.0.1:${String(proxy.port)}${path}`, secret);
  return { at, stopUpstream: () => closers.shift()?.() };
}

function receiver(): RequestListener {
  const handler = createNodeHandler({
    secret,
    on: { 'call:completed': () => undefined },
    logger: { warn: () => undefined, error: () => undefined },
  });
  return (request, response) => void handler(request, response);
}

const status = async (sender: ReturnType<typeof startSender>) =>
  (await sender.post(eventBody())).status;

for (const program of PROXIES) {
  describeWithProgram(program.name, `${program.name}, configured as in docs/proxies`, () => {
    test('forwards deliveries byte for byte', async () => {
      const { at } = await behind(program, receiver());
      expect(await at('/hook').post(eventBody({ name: 'Zoë 📞' }))).toEqual({
        status: 200,
        outcome: 'handled',
      });
      expect((await at('/hook').raw('{}')).status).toBe(401);
    });

    test.each([404, 410, 301, 302, 307, 308])(
      'turns %i of an upstream into 503',
      async (upstreamStatus) => {
        const { at } = await behind(program, (request, response) => {
          request.resume();
          response.writeHead(upstreamStatus, { location: '/elsewhere' }).end('no');
        });
        expect(await status(at('/hook'))).toBe(503);
      },
    );

    test.each(['/', '/hoook', '//hoook', '/hook%', '/x/hook'])(
      'never responds 404 to %s',
      async (path) => {
        const { at } = await behind(program, receiver());
        expect([400, 503]).toContain(await status(at(path)));
      },
    );

    test('responds with nothing that pauses a rule while the receiver is down', async () => {
      const { at, stopUpstream } = await behind(program, receiver());
      await stopUpstream();
      expect([502, 503]).toContain(await status(at('/hook')));
    });
  });
}
