import { createRequire } from 'node:module';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createReceiver, memoryStore, verify } from '@call-webhooks/core';
import { secretsFrom } from '@call-webhooks/client';
import { callWebhooks as koaMiddleware } from '@call-webhooks/adapters/koa';
import { callWebhooks } from '@call-webhooks/express';
import { callWebhooks as fastifyPlugin } from '@call-webhooks/fastify';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { callCompleted, deliver, signedRequest, TEST_SECRET } from '../src/index.ts';

// What sinon's `useFakeTimers` is made of.
const sinon = createRequire(import.meta.url)('@sinonjs/fake-timers') as {
  install(options: { now: number }): { uninstall(): void };
};

const FUTURE = Date.UTC(2040, 0, 2);
const logger = { warn: () => undefined, error: () => undefined };
const on = { 'call:completed': () => undefined };
// As in the module of an app: created before a test sets the clock.
const receiver = createReceiver({ secret: TEST_SECRET, logger, on, store: memoryStore() });
const app = express().all('/hook', callWebhooks({ secret: TEST_SECRET, logger, on }));
const koaApp = new Koa().use(koaMiddleware({ path: '/hook', secret: TEST_SECRET, logger, on }));

const CLOCKS: [string, () => () => void][] = [
  [
    "Jest's fake timers",
    () => {
      jest.useFakeTimers({ now: FUTURE });
      return () => jest.useRealTimers();
    },
  ],
  [
    'jest.spyOn(Date, "now")',
    () => {
      const spy = jest.spyOn(Date, 'now').mockReturnValue(FUTURE);
      return () => {
        spy.mockRestore();
      };
    },
  ],
  [
    "sinon's fake timers",
    () => {
      const clock = sinon.install({ now: FUTURE });
      return () => {
        clock.uninstall();
      };
    },
  ],
];

describe.each(CLOCKS)('with a clock that was mocked by %s', (_name, mock) => {
  let restore = (): void => undefined;
  afterEach(() => {
    restore();
  });

  it('a receiver that was created before agrees with deliver', async () => {
    restore = mock();
    expect(await deliver(receiver, callCompleted())).toMatchObject({ outcome: 'handled' });
  });

  it.each(Object.entries({ Express: app, Koa: koaApp }))(
    'so does the receiver of an app of %s',
    async (_framework, target) => {
      restore = mock();
      expect(await deliver(target, callCompleted())).toMatchObject({ outcome: 'handled' });
    },
  );

  it('a delivery of the real time is too old', async () => {
    const { headers, body } = await signedRequest(callCompleted());
    restore = mock();
    const response = await receiver.receive({ headers, body: Buffer.from(body) });
    expect(response.outcome.outcome).toBe('timestamp-out-of-tolerance');
  });

  it('verify and a provider of secrets use it as well', async () => {
    const stored = [{ id: 'a', secret: TEST_SECRET, expiresAt: FUTURE - 1 }];
    const provider = secretsFrom({ load: async () => stored, save: async () => undefined });
    restore = mock();
    expect(await provider()).toEqual([]);
    const { headers, body } = await signedRequest(callCompleted());
    const delivery = { headers, body: Buffer.from(body) };
    expect((await verify(delivery, { secret: TEST_SECRET })).timestamp).toEqual(new Date(FUTURE));
  });
});

it('Fastify, which starts in a tick of its own, needs the real nextTick and queueMicrotask', async () => {
  const fastifyApp = fastify();
  void fastifyApp.register(fastifyPlugin({ path: '/hook', secret: TEST_SECRET, logger, on }));
  jest.useFakeTimers({ now: FUTURE, doNotFake: ['nextTick', 'queueMicrotask'] });
  expect(await deliver(fastifyApp, callCompleted())).toMatchObject({ outcome: 'handled' });
  jest.useRealTimers();
});
