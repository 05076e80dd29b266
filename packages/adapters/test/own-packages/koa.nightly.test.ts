import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  adapterContractTests,
  callBody,
  collectingLogger,
  serveLocally,
  startSender,
} from '@call-webhooks/contract-tests';
import Koa3, { type Middleware } from 'koa';
import { callWebhooks, generateSecret, ready } from '../../src/koa.ts';

const installed = createRequire(import.meta.url);

let Koa2: typeof Koa3;
let bodyParser: () => Middleware;
let newBodyParser: () => Middleware;
let Router: new () => { all(path: string, hook: object): void; routes(): Middleware };
beforeAll(() => {
  Koa2 = installed('koa2') as typeof Koa3;
  bodyParser = installed('koa-bodyparser') as () => Middleware;
  ({ bodyParser: newBodyParser } = installed('@koa/bodyparser') as {
    bodyParser: () => Middleware;
  });
  ({ Router } = installed('@koa/router') as { Router: typeof Router });
});

adapterContractTests({
  name: 'Koa 2',
  async mount(options) {
    const hook = callWebhooks({ path: '/hook', ...options });
    const app = new Koa2();
    app.silent = true; // clients that end a connection are a part of the tests
    const listener = app.use(hook).use(bodyParser()).use(ready(hook)).callback();
    const { origin, close } = await serveLocally((req, res) => void listener(req, res));
    return { url: `${origin}/hook`, readyUrl: `${origin}/ready`, receiver: hook.receiver, close };
  },
});

describe.each([
  ['Koa 2', () => Koa2],
  ['Koa 3', () => Koa3],
])('%s', (_version, framework) => {
  const secret = generateSecret();
  const hook = callWebhooks({
    ...{ secret, logger: collectingLogger() },
    on: { 'call:completed': () => undefined },
  });

  /** What the receiver makes of a delivery. */
  async function outcomeOf(path: string, ...middlewares: Middleware[]) {
    const app = new (framework())();
    for (const middleware of middlewares) app.use(middleware);
    const listener = app.callback();
    const { origin, close } = await serveLocally((req, res) => void listener(req, res));
    const { outcome } = await startSender(origin + path, secret).post(
      callBody(`${path}-${String(middlewares.length)}`, 'call:completed', { name: 'Zoë ☎' }),
    );
    await close();
    return outcome;
  }

  it.each([
    ['koa-bodyparser', () => bodyParser()],
    ['@koa/bodyparser', () => newBodyParser()],
  ])('works behind %s', async (name, parser) => {
    expect(await outcomeOf(`/${name}`, parser(), hook)).toBe('handled');
  });

  it.each(['/hook', '/hook/'])('works in a route of @koa/router: %s', async (path) => {
    const router = new Router();
    router.all('/hook', hook);
    expect(await outcomeOf(path, router.routes())).toBe('handled');
  });
});
