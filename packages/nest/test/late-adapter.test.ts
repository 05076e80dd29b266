import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { callBody, collectingLogger, startSender } from '@call-webhooks/contract-tests';
import { CallWebhooks } from '../src/index.ts';
import type { NestParts } from '../src/call-webhooks.ts';
import { secret } from './app-module.ts';
import { PLATFORMS } from './platforms.ts';

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
