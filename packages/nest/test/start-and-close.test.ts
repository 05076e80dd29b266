import { afterEach, describe, expect, it } from '@jest/globals';
import { Inject, Injectable } from '@nestjs/common';
import type { DynamicModule, INestApplication, Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { callBody, deferred, startSender } from '@call-webhooks/contract-tests';
import { CallWebhooks, OnCallEvent } from '../src/index.ts';
import { appModule, CrmHandlers, secret } from './app-module.ts';
import { createApp, PLATFORMS } from './platforms.ts';

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
      /CrmHandlers\.onCall.+Other\.onCompleted/,
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
    expect(Object.keys(handlers.on)).toEqual(['call:completed', 'call:started', 'call:voicemail']);
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
