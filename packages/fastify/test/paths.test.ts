import { METHODS } from 'node:http';
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import { callBody, collectingLogger, startSender } from '@call-webhooks/contract-tests';
import fastify, { type FastifyInstance } from 'fastify';
import callWebhooks, { type CallWebhooksPlugin } from '../src/index.ts';

const secret = generateSecret();
const apps: FastifyInstance[] = [];
// Not by an event of `process`: tests have a copy of it, which gets none.
const emitWarning = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined);
afterAll(() => {
  emitWarning.mockRestore();
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
  expect(emitWarning.mock.calls).toEqual([]);
});

function make(): FastifyInstance {
  const app = fastify();
  apps.push(app);
  return app;
}
const receiver = () => createReceiver({ secret, logger: collectingLogger() });
// Node hands CONNECT to no request listener.
const methods = METHODS.filter((method) => method !== 'CONNECT');

/** The status of each method at a URL, without a body worth reading. */
async function statuses(url: string): Promise<Record<string, number>> {
  const sender = startSender(url, secret);
  const all = methods.map(async (method) => [method, (await sender.raw('', { method })).status]);
  return Object.fromEntries(await Promise.all(all)) as Record<string, number>;
}
const answered = Object.fromEntries(
  methods.map((method) => [method, method === 'POST' ? 401 : 405]),
);

/** Ways of mounting, and where the receiver then is. */
const mounts: [string, string[], (app: FastifyInstance) => unknown][] = [
  [
    'at a path',
    ['/hook', '/hook/', '/hook?a=b', '/hook/below'],
    (app) => app.register(callWebhooks({ path: '/hook', receiver: receiver() })),
  ],
  [
    'at a path with a slash at its end',
    ['/hook', '/hook/'],
    (app) => app.register(callWebhooks({ path: '/hook/', receiver: receiver() })),
  ],
  [
    'at a path with two slashes at its end',
    ['/hook', '/hook/'],
    (app) => app.register(callWebhooks({ path: '/hook//', receiver: receiver() })),
  ],
  [
    'at the root of the app',
    ['/', '/?a=b'],
    (app) => app.register(callWebhooks({ receiver: receiver() })),
  ],
  [
    "by Fastify's prefix alone",
    ['/hook', '/hook/'],
    (app) => app.register(callWebhooks({ receiver: receiver() }), { prefix: '/hook' }),
  ],
  [
    'below the prefix of another plugin',
    ['/api', '/api/'],
    (app) =>
      app.register(
        async (api) => {
          await api.register(callWebhooks({ receiver: receiver() }));
        },
        { prefix: '/api' },
      ),
  ],
  [
    'twice, below two prefixes',
    ['/one', '/two'],
    (app) =>
      app
        .register(callWebhooks({ receiver: receiver() }), { prefix: '/one' })
        .register(callWebhooks({ receiver: receiver() }), { prefix: '/two' }),
  ],
];

describe.each(mounts)('a receiver %s', (_how, paths, mount) => {
  it('answers every method from the table, and leaves the 404 of the app alone', async () => {
    const app = make();
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('our own'));
    mount(app);
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    for (const path of paths)
      expect({ path, ...(await statuses(origin + path)) }).toEqual({ path, ...answered });
    expect((await startSender(origin + paths[0]!, secret).post(callBody('c1'))).outcome).toBe(
      'ignored',
    );
    for (const path of ['/elsewhere', '/api/unknown']) {
      const reply = await fetch(origin + path);
      expect([reply.status, await reply.text()]).toEqual([404, 'our own']);
    }
    expect(
      (await startSender(`${origin}/elsewhere`, secret).raw('', { method: 'LOCK' })).status,
    ).toBe(404);
  });
});

describe('next to plugins that set the same', () => {
  it('lives with a 404 handler of the plugin around it', async () => {
    const app = make();
    app.register(
      async (api) => {
        api.setNotFoundHandler((_request, reply) => reply.code(404).send('of the api'));
        await api.register(callWebhooks({ receiver: receiver() }));
      },
      { prefix: '/api' },
    );
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    expect(await statuses(`${origin}/api`)).toEqual(answered);
    expect(await (await fetch(`${origin}/api/unknown`)).text()).toBe('of the api');
  });

  it('lives with an app that taught Fastify a method before', async () => {
    const app = make();
    app.addHttpMethod('PROPFIND', { hasBody: true });
    app.route({ method: 'PROPFIND', url: '/files', handler: () => 'found' });
    app.register(callWebhooks({ receiver: receiver() }));
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    expect(await statuses(`${origin}/`)).toEqual(answered);
    expect(
      (await startSender(`${origin}/files`, secret).raw('', { method: 'PROPFIND' })).status,
    ).toBe(200);
  });

  it('at a path of its own, it leaves the methods of the app alone', async () => {
    const app = make();
    app.register(callWebhooks({ path: '/hook', receiver: receiver() }));
    app.register(async (later) => void later.all('/files', () => 'found'));
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const files = startSender(`${origin}/files`, secret);
    expect((await files.raw('', { method: 'PUT' })).status).toBe(200);
    expect((await files.raw('', { method: 'LOCK' })).status).toBe(404);
  });

  it('at the root of the app, it leaves the bodies of other routes alone', async () => {
    const app = make();
    app.register(callWebhooks({ receiver: receiver() }));
    app.post('/json', (request) => ({ got: request.body }));
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${origin}/json`, { method: 'POST', headers, body: '{"a":1}' });
    expect(await reply.json()).toEqual({ got: { a: 1 } });
  });
});

describe('what the option tenant sees of the path', () => {
  it.each<[string, string, (app: FastifyInstance, hook: CallWebhooksPlugin) => unknown]>([
    ['below a prefix', '/api/hooks/acme', (app, hook) => app.register(hook, { prefix: '/api' })],
    ['that the app has rewritten', '/old/acme', (app, hook) => app.register(hook)],
  ])('%s is what was sent', async (_how, path, register) => {
    const paths: string[] = [];
    const app = fastify({ rewriteUrl: ({ url = '' }) => url.replace('/old/', '/hooks/') });
    apps.push(app);
    const hook = callWebhooks({
      path: '/hooks/:tenant',
      logger: collectingLogger(),
      tenant: (request) => {
        paths.push(request.path);
        return request.path.split('/').at(-1);
      },
      secret: ({ tenant }) => (tenant === 'acme' ? secret : undefined),
    });
    register(app, hook);
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    expect((await startSender(origin + path, secret).post(callBody('c1'))).outcome).toBe('ignored');
    expect(paths).toEqual([path]);
  });
});
