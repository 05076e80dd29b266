import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { callBody, collectingLogger, deferred, startSender } from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import {
  All,
  Controller,
  type DynamicModule,
  type INestApplication,
  Inject,
  Injectable,
  Logger,
  Module,
  type Provider,
  Req,
  Res,
} from '@nestjs/common';
import {
  type AbstractHttpAdapter,
  ApplicationConfig,
  HttpAdapterHost,
  NestFactory,
} from '@nestjs/core';
import type { NestParts } from '../src/call-webhooks.ts';
import { CallWebhooks, OnCallEvent } from '../src/index.ts';
import { appModule, CrmHandlers, secret } from './app-module.ts';
import { createApp, PLATFORMS } from './platforms.ts';

describe('start and close', () => {
  describe.each(PLATFORMS)('CallWebhooksModule on %s: start and close', (_name, platform) => {
    let app: INestApplication | undefined;
    afterEach(async () => {
      await app?.close();
      app = undefined;
    });

    async function start(module: DynamicModule) {
      app = await createApp(module, platform);
      await app.listen(0, '127.0.0.1');
      return { app, sender: startSender(`${await app.getUrl()}/hook`, secret) };
    }

    it.each<[string, object, Provider[], RegExp]>([
      [
        'two handlers for one event',
        {},
        [CrmHandlers, otherHandler()],
        /CrmHandlers\.onCall \(in EmptyModule\) and Other\.onCompleted \(in EmptyModule\)/,
      ],
      [
        'a class with handlers that is listed twice',
        {},
        [CrmHandlers, { provide: 'again', useClass: CrmHandlers }],
        /CrmHandlers\.onCall \(in EmptyModule\) would handle call:\w+ twice/,
      ],
      ['no secret', { secret: undefined }, [CrmHandlers], /secret/],
      ['handlers in its options', { on: {} }, [CrmHandlers], /@OnCallEvent/],
      ['no path', { path: undefined }, [CrmHandlers], /path/],
    ])('does not start with %s', async (_what, options, providers, message) => {
      await expect(start(appModule(options, { providers }))).rejects.toThrow(message);
    });

    it('waits for running handlers when the app closes, and refuses new deliveries meanwhile', async () => {
      const entered = deferred();
      const release = deferred();
      const events: string[] = [];
      class Slow {
        @OnCallEvent('call:completed')
        async onCompleted() {
          entered.resolve();
          await release.promise;
          events.push('handled');
        }
        onApplicationShutdown() {
          events.push('shutdown');
        }
      }
      const { sender, app: started } = await start(appModule({}, { providers: [Slow] }));
      const first = sender.post(callBody('c1'));
      await entered.promise;
      const closed = started.close();
      app = undefined;
      expect((await sender.post(callBody('c2'))).outcome).toBe('shutting-down');
      release.resolve();
      expect((await first).outcome).toBe('handled');
      await closed;
      expect(events).toEqual(['handled', 'shutdown']);
    });
  });

  function otherHandler() {
    class Other {
      @OnCallEvent('call:completed')
      onCompleted() {
        return undefined;
      }
    }
    return Other;
  }

  describe('CallWebhooks', () => {
    it('has the receiver and the handlers, also in an app without a server', async () => {
      const app = await NestFactory.createApplicationContext(appModule(), { logger: false });
      const { receiver, handlers } = app.get(CallWebhooks);
      expect(Object.keys(handlers.on)).toEqual([
        'call:completed',
        'call:started',
        'call:voicemail',
      ]);
      expect(Object.keys(handlers.events)).toEqual(['call:voicemail']);
      const { outcome } = await receiver.deliver({ eventName: 'call:completed', callId: 'c1' });
      expect(outcome).toBe('handled');
      await app.close();
    });

    it('says so when it is used too early', async () => {
      @Injectable()
      class Early {
        constructor(@Inject(CallWebhooks) { receiver }: CallWebhooks) {
          this.receiver = receiver;
        }
        readonly receiver: unknown;
      }
      await expect(
        NestFactory.create(appModule({}, { providers: [Early] }), {
          logger: false,
          abortOnError: false,
        }),
      ).rejects.toThrow('onApplicationBootstrap');
    });
  });

  it('a static method with @OnCallEvent throws where it is declared, with the fix', () => {
    const declare = () => {
      class Handlers {
        @OnCallEvent('call:completed')
        static onCompleted() {
          return undefined;
        }
        onStarted() {
          return undefined;
        }
      }
      return Handlers;
    };
    expect(declare).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringMatching(/Handlers\.onCompleted.+Remove `static`/) as unknown,
      }),
    );
  });
});

describe('controllers', () => {
  const secret = generateSecret();
  const handle = jest.fn();
  const hook = createNodeHandler({
    secret,
    logger: collectingLogger(),
    on: { 'call:completed': handle },
  });
  const errors: Error[] = [];

  @Controller('hook')
  class HookController {
    @All()
    async receive(@Req() request: never, @Res() response: never) {
      try {
        await hook(request, response);
      } catch (error) {
        errors.push(error as Error);
        throw error;
      }
    }
  }

  @Module({ controllers: [HookController] })
  class AppModule {}

  let app: INestApplication | undefined;
  afterEach(() => app?.close());

  it('a controller that hands the objects of Fastify to the node handler: refused before anything runs', async () => {
    app = await createApp(AppModule, PLATFORMS[1][1]);
    await app.listen(0, '127.0.0.1');
    const sender = startSender(`${await app.getUrl()}/hook`, secret);
    expect((await sender.post(callBody('c1'))).status).toBe(500);
    expect((await sender.post(callBody('c1'))).status).toBe(500);
    expect(handle).not.toHaveBeenCalled();
    expect(errors[0]).toMatchObject({ code: 'invalid-options' });
    expect(errors[0]?.message).toContain(
      'In Nest on Fastify, use CallWebhooksModule of @call-webhooks/nest',
    );
  });
});

describe('late adapters', () => {
  Logger.overrideLogger(false);

  /** As `Test.createTestingModule(…).compile()` does: the host has no adapter yet. */
  function createEarly() {
    const adapterHost = new HttpAdapterHost();
    const none = { getProviders: () => [], getControllers: () => [] };
    const config = new ApplicationConfig();
    const parts = { discovery: none, moduleRef: {}, adapterHost, config } as unknown as NestParts;
    const options = { path: '/hook', secret, logger: collectingLogger() };
    return { adapterHost, callWebhooks: new CallWebhooks(options, parts) };
  }

  describe.each(PLATFORMS)('%s as the adapter that is set late', (_name, platform) => {
    it('has the receiver, in front of the body parsers', async () => {
      const { adapterHost, callWebhooks } = createEarly();
      const adapter: AbstractHttpAdapter = platform();
      adapter.initHttpServer({});
      adapterHost.httpAdapter = adapter;
      adapter.registerParserMiddleware();
      callWebhooks.onModuleInit();
      await new Promise<void>((resolve) => void adapter.listen(0, '127.0.0.1', () => resolve()));
      const { port } = (adapter.getHttpServer() as { address(): AddressInfo }).address();
      const sender = startSender(`http://127.0.0.1:${String(port)}/hook`, secret);
      expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'ignored' });
      await callWebhooks.onModuleDestroy();
      await adapter.close();
    });
  });

  it('an adapter of another platform that is set late: app.init() throws', () => {
    const { adapterHost, callWebhooks } = createEarly();
    adapterHost.httpAdapter = { getType: () => 'other' } as unknown as AbstractHttpAdapter;
    expect(() => callWebhooks.onModuleInit()).toThrow('not other');
  });
});
