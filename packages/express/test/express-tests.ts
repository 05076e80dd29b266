import { afterEach, describe, expect, it } from '@jest/globals';
import { generateSecret, sign } from '@call-webhooks/core';
import {
  adapterContractTests,
  callBody,
  collectingLogger,
  serveLocally,
} from '@call-webhooks/contract-tests';
import { signedRequest } from '@call-webhooks/testing';
import type express from 'express';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { callWebhooks, keepRawBody, ready } from '../src/index.ts';

const secret = generateSecret();
const body = callBody('c1', 'call:completed', {
  userId: 'u1',
  spaced: 1,
  escaped: '\u00e9',
}).replace('"c1"', ' "c1"');

/** The tests of the adapter, on one version of Express. */
export function expressTests(name: string, framework: typeof express): void {
  adapterContractTests({
    name,
    async mount(options) {
      const handler = callWebhooks(options);
      const app = framework().all('/hook', handler).get('/ready', ready(handler));
      const { origin, close } = await serveLocally(app);
      const [url, readyUrl] = [`${origin}/hook`, `${origin}/ready`];
      return { url, readyUrl, receiver: handler.receiver, close };
    },
  });

  it(`${name}: what supertest makes of a Buffer is not what was signed; docs/testing.md says so`, async () => {
    const hook = callWebhooks({ secret, logger: collectingLogger() });
    const post = async (sent: string | Buffer) => {
      const one = request(framework().all('/hook', hook)).post('/hook');
      const { headers } = await signedRequest(body, { secret });
      return (await one.set(headers).send(sent)).body as unknown;
    };
    expect(await post(Buffer.from(body))).toEqual({ outcome: 'signature-mismatch' });
    expect(await post(body)).toEqual({ outcome: 'ignored' });
    await hook.receiver.close();
  });

  it(`${name}: below a router, the option tenant sees the path as it was sent`, async () => {
    const paths: string[] = [];
    const hook = callWebhooks({
      logger: collectingLogger(),
      tenant: ({ path }) => {
        paths.push(path);
        return path.split('/')[2];
      },
      secret: ({ tenant }) => (tenant === 'acme' ? secret : undefined),
    });
    const router = framework.Router().post('/acme', hook);
    const signed = await sign({ secret, body });
    const { text } = await request(framework().use('/hooks', router))
      .post('/hooks/acme?a=b')
      .set(signed)
      .set('content-type', 'application/json')
      .send(body);
    expect([text, paths]).toEqual(['{"outcome":"ignored"}', ['/hooks/acme']]);
    await hook.receiver.close();
  });

  describe(`${name}: bodies that were read before`, () => {
    const handlers: ReturnType<typeof callWebhooks>[] = [];
    afterEach(async () => {
      await Promise.all(handlers.splice(0).map((handler) => handler.receiver.close()));
    });

    async function post(
      parser: RequestHandler,
      more: object = {},
      contentType = 'application/json',
    ) {
      const logger = collectingLogger();
      const handler = callWebhooks({
        secret,
        logger,
        on: { 'call:completed': () => undefined },
        ...more,
      });
      handlers.push(handler);
      const app = framework().use(parser).post('/hook', handler);
      const signed = await sign({ secret, body });
      const { status, text } = await request(app)
        .post('/hook')
        .set(signed)
        .set('content-type', contentType)
        .send(body);
      return { status, text, lines: logger.lines };
    }

    it.each([
      ['express.raw', framework.raw({ type: '*/*' })],
      ['express.json with keepRawBody', framework.json({ verify: keepRawBody })],
      ['express.urlencoded, which leaves JSON alone', framework.urlencoded({ extended: false })],
      [
        'a req.rawBody beside a parsed body, as Firebase has it',
        ((req, _res, next) => {
          const chunks: Buffer[] = [];
          req
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => {
              Object.assign(req, { rawBody: Buffer.concat(chunks), body: {} });
              next();
            });
        }) satisfies RequestHandler,
      ],
    ] as [string, RequestHandler][])('%s: the bytes are used', async (_name, parser) => {
      expect(await post(parser)).toEqual({ status: 200, text: '{"outcome":"handled"}', lines: [] });
    });

    it('express.json alone: 500, and one log line with the fix', async () => {
      const { status, text, lines } = await post(framework.json());
      expect([status, text]).toEqual([500, '{"outcome":"body-already-parsed"}']);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('express.json({ verify: keepRawBody })');
      const [, from = ''] = /keepRawBody is exported by (@[\w/-]+)/.exec(String(lines[0])) ?? [];
      expect(await import(from)).toHaveProperty('keepRawBody', keepRawBody);
    });

    it('express.text: 500 as well, as a text is not the bytes', async () => {
      expect((await post(framework.text({ type: '*/*' }))).status).toBe(500);
    });

    it('holds the limit for bytes that somebody else read', async () => {
      expect((await post(framework.raw({ type: '*/*' }), { bodyLimit: 10 })).status).toBe(413);
    });
  });
}
