import { afterEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Inject, Injectable, Module, Post, Scope } from '@nestjs/common';
import type { DynamicModule, INestApplication, Provider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { CallCompletedEvent } from '@call-webhooks/core';
import { callBody, startSender } from '@call-webhooks/contract-tests';
import { z } from 'zod';
import { CallWebhooksModule, OnCallEvent } from '../src/index.ts';
import { appModule, Crm, CrmHandlers, EmptyModule, saved, secret } from './app-module.ts';
import { createApp, PLATFORMS } from './platforms.ts';

describe.each(PLATFORMS)('CallWebhooksModule on %s', (_name, platform) => {
  let app: INestApplication | undefined;
  afterEach(async () => {
    saved.length = 0;
    await app?.close();
    app = undefined;
  });

  async function start(module: DynamicModule, prepare?: (app: INestApplication) => void) {
    app = await createApp(module, platform);
    prepare?.(app);
    await app.listen(0, '127.0.0.1');
    const origin = await app.getUrl();
    return { app, origin, sender: startSender(`${origin}/hook`, secret) };
  }

  it('calls the methods of a provider, with what was injected into it', async () => {
    const { sender } = await start(appModule());
    expect((await sender.post(callBody('c1'))).outcome).toBe('handled');
    expect((await sender.post(callBody('c1', 'call:started'))).outcome).toBe('handled');
    const voicemail = { eventName: 'call:voicemail', eventId: 'v1', seconds: 7 };
    expect((await sender.post(JSON.stringify(voicemail))).outcome).toBe('handled');
    const invalid = { ...voicemail, eventId: 'v2', seconds: 'x' };
    expect((await sender.post(JSON.stringify(invalid))).outcome).toBe('invalid-payload');
    expect(saved).toEqual(['call:completed c1 1', 'call:started c1 1', 'voicemail 7']);
  });

  it('takes bodies up to its own limit, whatever the limit of the app is', async () => {
    const { sender } = await start(appModule());
    const body = (length: number) =>
      callBody(`c${String(length)}`, 'call:completed', { note: 'é'.repeat(length / 2) });
    expect((await sender.post(body(300_000))).outcome).toBe('handled');
    expect((await sender.post(body(1_000_000))).status).toBe(200);
    expect((await sender.post(body(1_100_000))).outcome).toBe('body-too-large');
  });

  it('leaves the parsers, the 404 and the guards of the app alone', async () => {
    @Controller('notes')
    class Notes {
      @Post()
      create(@Body() body: object) {
        return body;
      }
      @Get('hook')
      hook() {
        return 'ours';
      }
    }
    const refuseAll = { provide: APP_GUARD, useValue: { canActivate: () => false } };
    const open = await start(appModule({}, { controllers: [Notes] }));
    const post = {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    };
    expect(await (await fetch(`${open.origin}/notes`, post)).json()).toEqual({ a: 1 });
    expect(await (await fetch(`${open.origin}/notes/hook`)).text()).toBe('ours');
    expect((await fetch(`${open.origin}/hooks`)).status).toBe(404);
    expect((await fetch(`${open.origin}/hook/below`)).status).toBe(404);
    await open.app.close();
    const providers = [CrmHandlers, refuseAll];
    const guarded = await start(appModule({}, { controllers: [Notes], providers }));
    expect((await fetch(`${guarded.origin}/notes`, post)).status).toBe(403);
    expect((await guarded.sender.post(callBody('c1'))).outcome).toBe('handled');
  });

  it.each([
    [{}, '/hook'],
    [{ path: 'hook/' }, '/hook'],
    [{}, '/hook/'],
    [{}, '/hook?tenant=1'],
    [{ path: '/' }, '/'],
    [{ useGlobalPrefix: true }, '/api/v1/hook'],
    [{ path: '/', useGlobalPrefix: true }, '/api/v1'],
  ])('with the global prefix api/v1 and %j, it answers at %s', async (options, path) => {
    const { origin } = await start(appModule(options), (created) => {
      created.setGlobalPrefix('api/v1');
    });
    expect((await startSender(origin + path, secret).post(callBody('c1'))).outcome).toBe('handled');
    expect((await fetch(`${origin}/api/other`)).status).toBe(404);
  });

  it('is configured by a factory, with what is injected into it', async () => {
    @Injectable()
    class Config {
      readonly path = '/async';
    }
    @Module({ providers: [Config], exports: [Config] })
    class ConfigModule {}
    const imported = CallWebhooksModule.forRootAsync({
      imports: [ConfigModule],
      inject: [Config],
      useFactory: async ({ path }: Config) => Promise.resolve({ path, secret }),
    });
    const { origin } = await start({
      module: EmptyModule,
      imports: [imported],
      providers: [Crm, CrmHandlers],
    });
    const sender = startSender(`${origin}/async`, secret);
    expect((await sender.post(callBody('c1'))).outcome).toBe('handled');
  });

  it.each<[what: string, scope: Scope, scopeOfPart: Scope, instances: number]>([
    ['the same instance of a provider', Scope.DEFAULT, Scope.DEFAULT, 1],
    ['an instance of its own of a provider in request scope', Scope.REQUEST, Scope.DEFAULT, 2],
    ['an instance of its own of a transient provider', Scope.TRANSIENT, Scope.DEFAULT, 2],
    ['an instance of its own if a part is in request scope', Scope.DEFAULT, Scope.REQUEST, 2],
  ])('gives each event %s', async (_what, scope, scopeOfPart, expected) => {
    const instances = new Set<object>();
    @Injectable({ scope: scopeOfPart })
    class Part {}
    @Injectable({ scope })
    class Scoped {
      readonly crm: Crm;
      readonly part: Part;
      constructor(@Inject(Crm) crm: Crm, @Inject(Part) part: Part) {
        this.crm = crm;
        this.part = part;
      }
      @OnCallEvent('call:completed')
      onCompleted(event: CallCompletedEvent) {
        instances.add(this);
        this.crm.save(String(event.callId));
      }
    }
    const { sender } = await start(appModule({}, { providers: [Part, Scoped] }));
    await sender.post(callBody('c1'));
    await sender.post(callBody('c2'));
    expect([saved, instances.size]).toEqual([['c1', 'c2'], expected]);
  });

  it('finds the handlers of providers and controllers in every module, however they are made', async () => {
    @Controller('calls')
    class OfController {
      @OnCallEvent('call:started')
      onStarted() {
        saved.push('controller');
      }
    }
    class OfImported {
      @OnCallEvent('call:completed')
      onCompleted() {
        saved.push('provider of an imported module');
      }
    }
    class OfFactory {
      @OnCallEvent('crm:moved', z.object({}))
      onMoved() {
        saved.push('factory');
      }
    }
    class OfValue {
      @OnCallEvent('crm:closed', z.object({}))
      onClosed() {
        saved.push('value');
      }
    }
    @Module({ providers: [OfImported] })
    class ImportedModule {}
    const made = [
      { provide: 'factory', useFactory: () => new OfFactory() },
      { provide: 'value', useValue: new OfValue() },
    ];
    const { imports = [], ...module } = appModule(
      {},
      { controllers: [OfController], providers: made },
    );
    const { sender } = await start({ ...module, imports: [...imports, ImportedModule] });
    for (const eventName of ['call:started', 'call:completed', 'crm:moved', 'crm:closed']) {
      const body = JSON.stringify({ eventName, callId: 'c1', eventId: 'e1' });
      expect([eventName, (await sender.post(body)).outcome]).toEqual([eventName, 'handled']);
    }
    expect(saved).toEqual(['controller', 'provider of an imported module', 'factory', 'value']);
  });

  it('calls the method that overrides a decorated one, once', async () => {
    class Base {
      @OnCallEvent('call:completed')
      onCompleted() {
        saved.push('base');
      }
    }
    class Derived extends Base {
      @OnCallEvent('call:completed')
      override onCompleted() {
        saved.push('derived');
      }
    }
    const alias: Provider = { provide: 'alias', useExisting: Derived };
    const { sender } = await start(appModule({}, { providers: [Derived, alias] }));
    expect((await sender.post(callBody('c1'))).outcome).toBe('handled');
    expect(saved).toEqual(['derived']);
  });
});
