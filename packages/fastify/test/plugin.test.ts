import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createReceiver, generateSecret, memoryStore, sign } from '@call-webhooks/core';
import { callBody, collectingLogger, deferred, startSender } from '@call-webhooks/contract-tests';
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import callWebhooks from '../src/index.ts';

const secret = generateSecret();
const apps: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

function make(options: FastifyServerOptions = {}): FastifyInstance {
  const app = fastify(options);
  apps.push(app);
  return app;
}
const listen = (app: FastifyInstance) => app.listen({ port: 0, host: '127.0.0.1' });

describe('the Fastify plugin', () => {
  it('leaves the JSON parser, the 404 and the error handler of the app as they are', async () => {
    const app = make();
    app.post('/json', (request) => ({ got: request.body }));
    app.register(callWebhooks({ path: '/hook', secret }));
    const origin = await listen(app);
    const reply = await fetch(`${origin}/json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    expect(await reply.json()).toEqual({ got: { a: 1 } });
    expect((await fetch(`${origin}/elsewhere`)).status).toBe(404);
    expect(
      (
        await fetch(`${origin}/json`, {
          method: 'POST',
          headers: { 'content-type': 'x/y' },
          body: 'a',
        })
      ).status,
    ).toBe(415);
  });

  it.each([{}, { routerOptions: { ignoreTrailingSlash: true } }])(
    'answers at /hook and at /hook/ with %j',
    async (options) => {
      const app = make(options);
      app.register(
        callWebhooks({
          path: '/hook',
          secret,
          on: { 'call:completed': () => undefined },
        }),
      );
      const origin = await listen(app);
      expect((await startSender(`${origin}/hook`, secret).post(callBody('c1'))).outcome).toBe(
        'handled',
      );
      expect((await startSender(`${origin}/hook/`, secret).post(callBody('c2'))).outcome).toBe(
        'handled',
      );
      expect((await startSender(`${origin}/hook/?a=b`, secret).post(callBody('c3'))).outcome).toBe(
        'handled',
      );
    },
  );

  it('a hook that reads the body first: 500, and one log line with the fix', async () => {
    const app = make();
    app.addHook('onRequest', async (request) => {
      for await (const _chunk of request.raw);
    });
    const logger = collectingLogger();
    app.register(callWebhooks({ path: '/hook', secret, logger }));
    const reply = await startSender(`${await listen(app)}/hook`, secret).post(callBody('c1'));
    expect(reply).toEqual({ status: 500, outcome: 'body-already-parsed' });
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toContain('Look for a preParsing hook or a plugin');
  });

  it("reads the stream that the app's preParsing hook returns", async () => {
    const app = make();
    const seen: number[] = [];
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      const counted = new PassThrough();
      counted.on('data', (chunk: Buffer) => seen.push(chunk.length));
      done(null, payload.pipe(counted));
    });
    const on = { 'call:completed': () => undefined };
    const options = { secret, on, bodyLimit: 1_000, logger: collectingLogger() };
    app.register(callWebhooks, { path: '/hook', ...options });
    const sender = startSender(`${await listen(app)}/hook`, secret);
    expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'handled' });
    expect(seen).toEqual([callBody('c1').length]);
    expect((await sender.post(`"${'x'.repeat(2_000)}"`)).status).toBe(413);
    expect((await sender.raw('', { method: 'GET' })).status).toBe(405);
  });

  it("a preParsing hook may give more or fewer bytes than the request's content-length", async () => {
    const app = make();
    const opened = (sent: string) => (sent.startsWith('.') ? sent.slice(1) : `${sent}}`);
    app.addHook('preParsing', async (_request, _reply, payload) => {
      const chunks: Buffer[] = [];
      for await (const chunk of payload) chunks.push(chunk as Buffer);
      return Readable.from([Buffer.from(opened(Buffer.concat(chunks).toString()))]);
    });
    const on = { 'call:completed': () => undefined };
    app.register(callWebhooks({ path: '/hook', secret, on, logger: collectingLogger() }));
    const sender = startSender(`${await listen(app)}/hook`, secret);
    for (const [callId, sent] of [
      ['fewer', (body: string) => `.${body}`],
      ['more', (body: string) => body.slice(0, -1)],
    ] as const) {
      const body = callBody(callId);
      const headers = await sign({ secret, body });
      expect((await sender.raw(sent(body), { headers })).outcome).toBe('handled');
    }
  });

  it('keeps the rejection of a hook of the app', async () => {
    const app = make();
    app.addHook('preHandler', async (_request, reply) => reply.code(418).send({ no: 'tea' }));
    app.register(callWebhooks({ path: '/hook', secret }));
    const origin = await listen(app);
    expect((await startSender(`${origin}/hook`, secret).post(callBody('c1'))).status).toBe(418);
  });

  it("a hook of the app that throws is answered by the app's error handler, and no handler runs", async () => {
    const app = make();
    let code: string | undefined;
    app.addHook('onRequest', () =>
      Promise.reject(Object.assign(new Error('no'), { statusCode: 429, code })),
    );
    app.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
      reply.code(error.statusCode ?? 500).send('from the app'),
    );
    const outcomes: string[] = [];
    const onOutcome = ({ outcome }: { outcome: string }) => void outcomes.push(outcome);
    app.register(callWebhooks({ path: '/hook', secret, onOutcome }));
    const url = `${await listen(app)}/hook`;
    for (const given of [undefined, 'ACL', 'FROM_FST_ERR_CTP']) {
      code = given;
      const reply = await fetch(url, { method: 'POST', body: '{}' });
      expect([reply.status, await reply.text()]).toEqual([429, 'from the app']);
    }
    expect(outcomes).toEqual([]);
  });

  it('wrong options fail the start, with the fix', async () => {
    expect(() => callWebhooks({ path: '/hook', secret: '' })).toThrow(
      'Is the environment variable set?',
    );
    const unknown = { secret, register: true };
    expect(() => callWebhooks(unknown)).toThrow('there is no option "register"');
  });

  it('is a plugin itself, which takes the options of register', async () => {
    const app = make();
    app.register(
      async (api) => {
        await api.register(callWebhooks, {
          prefix: '/v1',
          logLevel: 'warn',
          logSerializers: { wanted: String },
          ...{ path: '/hook', secret, on: { 'call:completed': () => undefined } },
        });
      },
      { prefix: '/api' },
    );
    app.post('/json', (request) => ({ got: request.body }));
    const origin = await listen(app);
    const { outcome } = await startSender(`${origin}/api/v1/hook`, secret).post(callBody('c1'));
    expect(outcome).toBe('handled');
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${origin}/json`, { method: 'POST', headers, body: '{"a":1}' });
    expect(await reply.json()).toEqual({ got: { a: 1 } });
  });

  it.each([
    [{ path: '/hook', secret: '' }, 'Is the environment variable set?'],
    [{ path: '/hook', secret, pfad: '/hook' }, 'there is no option "pfad"'],
  ])('with the wrong options of register, the start fails: %j', async (options, message) => {
    const app = make();
    app.register(callWebhooks, options);
    await expect(app.ready()).rejects.toThrow(message);
  });

  it('without options, the start fails with the fix', async () => {
    const app = make();
    // @ts-expect-error it takes options
    app.register(callWebhooks);
    await expect(app.ready()).rejects.toThrow('Is the environment variable set?');
  });

  it.each<[string, unknown]>([
    ['the request of Express', { method: 'POST', headers: {}, on: () => undefined }],
    ["fetch's Request", new Request('http://localhost/hook')],
    ['nothing', undefined],
  ])('called with %s instead of an app, it says what it takes', async (_name, given) => {
    const plugin = callWebhooks({ path: '/hook', secret });
    await expect(plugin(given as never)).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining("takes Fastify's app") as unknown,
    });
  });

  it('has its receiver', async () => {
    const hook = callWebhooks({ path: '/hook', secret });
    const app = make();
    app.register(hook);
    await app.ready();
    expect(await hook.receiver.health()).toMatchObject({ ok: true });
    await app.close();
    expect(await hook.receiver.health()).toMatchObject({ ok: false });
    const receiver = createReceiver({ secret });
    expect(callWebhooks({ receiver }).receiver).toBe(receiver);
  });

  it.each([
    [{}, 10_000],
    [{ graceMs: 2_500 }, 2_500],
  ])('with %j, the handlers have %i ms to end when the app closes', async (options, graceMs) => {
    const close = jest.fn((_options: object) => Promise.resolve());
    const app = make();
    const receiver = { ...createReceiver({ secret }), close };
    app.register(callWebhooks({ path: '/hook', receiver, ...options }));
    await app.ready();
    expect(close).not.toHaveBeenCalled();
    await app.close();
    expect(close.mock.calls).toEqual([[{ graceMs }]]);
  });

  it('gives the lease of an unfinished handler back on close', async () => {
    const store = memoryStore();
    const [entered, never] = [deferred(), deferred()];
    const receiver = createReceiver({
      secret,
      store,
      logger: collectingLogger(),
      on: {
        'call:completed': async () => {
          entered.resolve();
          await never.promise;
        },
      },
    });
    const app = make();
    app.register(callWebhooks({ path: '/hook', receiver, graceMs: 0 }));
    await app.ready();
    const body = callBody('c1');
    const headers = await sign({ secret, body });
    const running = receiver.receive({ headers, body: Buffer.from(body) });
    await entered.promise;
    await app.close();
    const claim = {
      webhookId: 'w2',
      replayUntil: Date.now() + 300_000,
      leaseMs: 60_000,
      token: 't2',
    };
    expect(await store.admit({ ...claim, key: 'c1:call:completed' })).toEqual({
      status: 'admitted',
      attempt: 2,
    });
    never.resolve();
    expect((await running).outcome.outcome).toBe('shutting-down');
  });

  it('its lines go to the logger of the request, which knows its id', async () => {
    const lines: unknown[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line));
    const app = make({ logger: { level: 'warn', stream: { write } }, genReqId: () => 'request-7' });
    const logger = collectingLogger();
    app.register(callWebhooks({ path: '/hook', secret, logger }));
    await startSender(`${await listen(app)}/hook`, secret).raw('{}');
    expect(lines).toEqual([
      expect.objectContaining({ reqId: 'request-7', outcome: 'missing-header' }),
    ]);
    expect(logger.lines).toEqual([]);
  });

  it("with logger: false the lines go to the receiver's logger, and are not lost", async () => {
    const app = make();
    const logger = collectingLogger();
    app.register(callWebhooks({ path: '/hook', secret, logger }));
    await startSender(`${await listen(app)}/hook`, secret).raw('{}');
    expect(logger.lines).toHaveLength(1);
  });
});
