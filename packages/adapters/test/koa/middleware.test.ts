import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  callBody,
  collectingLogger,
  serveLocally,
  startSender,
} from '@call-webhooks/contract-tests';
import Koa, { type Middleware } from 'koa';
import { callWebhooks, generateSecret, type CallWebhooksOptions } from '../../src/koa.ts';

const secret = generateSecret();
const open: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

const message = new IncomingMessage(new Socket());
const logger = collectingLogger();
const hook = (options: Partial<CallWebhooksOptions> = {}) =>
  callWebhooks({ secret, logger, on: { 'call:completed': () => undefined }, ...options });

/** A sender for each path of an app. */
async function serve(...middlewares: Middleware[]) {
  const app = new Koa();
  app.silent = true;
  for (const middleware of middlewares) app.use(middleware);
  const listener = app.callback();
  const server = await serveLocally((req, res) => void listener(req, res));
  open.push(server);
  return (path: string) => startSender(server.origin + path, secret);
}

describe('paths', () => {
  it.each(['/hook', '/hook/', '/hook//', '/hook?a=b', '/hook/?a=b'])(
    '%s is for the receiver',
    async (path) => {
      const at = await serve(hook({ path: '/hook/' }));
      expect(await at(path).post(callBody('c1'))).toEqual({ status: 200, outcome: 'handled' });
    },
  );

  it('others go on to the app', async () => {
    const at = await serve(hook({ path: '/hook' }), (ctx) => void (ctx.status = 418));
    for (const path of ['/', '/hooks', '/hook/below', '/HOOK'])
      expect((await at(path).post(callBody('c1'))).status).toBe(418);
  });

  it('without one, every request is for the receiver', async () => {
    const at = await serve(hook());
    expect((await at('/any').post(callBody('c1'))).outcome).toBe('handled');
  });
});

it('below a path that a mount took away, the option tenant sees the path as it was sent', async () => {
  const paths: string[] = [];
  const tenant = ({ path }: { path: string }) => {
    paths.push(path);
    return path.split('/')[2];
  };
  const mount: Middleware = async (ctx, next) => {
    ctx.path = ctx.path.replace('/hooks', ''); // as koa-mount does
    await next();
  };
  const at = await serve(
    mount,
    hook({ path: '/acme', tenant, secret: ({ tenant: name }) => (name === 'acme' ? secret : []) }),
  );
  expect((await at('/hooks/acme').post(callBody('c1'))).outcome).toBe('handled');
  expect(paths).toEqual(['/hooks/acme']);
});

/** A body parser that keeps in the request what `keep` makes of the text. */
const parser =
  (keep: (text: string) => object): Middleware =>
  async (ctx, next) => {
    const chunks: Buffer[] = [];
    for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
    Object.assign(ctx.request, keep(Buffer.concat(chunks).toString()));
    await next();
  };

describe('behind a body parser', () => {
  it('that keeps the text: it is used', async () => {
    const at = await serve(
      parser((rawBody) => ({ rawBody })),
      hook({ path: '/hook' }),
    );
    const body = callBody('c1', 'call:completed', { name: 'Zoë ☎' }).replace(':', ' : ');
    expect(await at('/hook').post(body)).toEqual({ status: 200, outcome: 'handled' });
    const forged = await at('/hook').post(body, { secret: generateSecret() });
    expect(forged.outcome).toBe('signature-mismatch');
    // Bytes that are no UTF-8 were replaced, so they are not those that were signed.
    const latin = Buffer.from(callBody('c2', 'call:completed', { name: 'Zoë' }), 'latin1');
    expect((await at('/hook').post(latin)).outcome).toBe('signature-mismatch');
  });

  it('that keeps the bytes: they are used', async () => {
    const at = await serve(
      parser((text) => ({ rawBody: Buffer.from(text) })),
      hook({ path: '/hook' }),
    );
    expect((await at('/hook').post(callBody('c1'))).outcome).toBe('handled');
  });

  it('that does not: 500, and one log line with the fix', async () => {
    const own = collectingLogger();
    const at = await serve(
      parser((text) => ({ body: JSON.parse(text) as unknown })),
      hook({ path: '/hook', logger: own }),
    );
    expect(await at('/hook').post(callBody('c1'))).toEqual({
      status: 500,
      outcome: 'body-already-parsed',
    });
    expect(own.lines).toEqual([expect.stringContaining('before the body parser')]);
  });
});

it('middlewares in front see the status of the response', async () => {
  const statuses: number[] = [];
  const at = await serve(
    async (ctx, next) => {
      await next();
      statuses.push(ctx.status);
    },
    hook({ path: '/hook' }),
  );
  await at('/hook').post(callBody('c1'));
  await at('/hook').raw('');
  expect(statuses).toEqual([200, 401]);
});

it.each([
  ['the request of Express', { res: new ServerResponse(message) }, { set: () => undefined }],
  ['the request of node:http', message, new ServerResponse(message)],
  ['a Request', new Request('http://x'), undefined],
  ['nothing', undefined, undefined],
])('%s is refused, with the fix', (_name, ...args) => {
  const handle = hook() as unknown as (...args: unknown[]) => Promise<unknown>;
  // A rejection would come too late: Express 4 does not see it.
  expect(() => void handle(...args).catch(() => undefined)).toThrow(
    expect.objectContaining({
      code: 'invalid-options',
      message: expect.stringContaining("takes Koa's context") as unknown,
    }),
  );
});
