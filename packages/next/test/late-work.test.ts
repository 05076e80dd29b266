// First: Next keeps the scope of a request in the AsyncLocalStorage that this makes global.
import 'next/dist/server/node-environment-baseline.js';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { callBody, collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { AfterContext } from 'next/dist/server/after/after-context.js';
import {
  workAsyncStorage,
  type WorkStore,
} from 'next/dist/server/app-render/work-async-storage.external.js';
import {
  workUnitAsyncStorage,
  type WorkUnitStore,
} from 'next/dist/server/app-render/work-unit-async-storage.external.js';
import { callWebhooks, generateSecret, sign, type RouteHandler } from '../src/index.ts';

const secret = generateSecret();
const logger = collectingLogger();

/** Sends a delivery to a route handler in Next's request scope, on a platform with `waitUntil`. */
async function deliver(handler: RouteHandler) {
  const body = callBody('c1');
  const headers = await sign({ secret, body });
  const kept: Promise<unknown>[] = [];
  const onClose: (() => void)[] = [];
  const afterContext = new AfterContext({
    waitUntil: (work) => void kept.push(work),
    onClose: (callback) => void onClose.push(callback),
    onTaskError: undefined,
  });
  const respond = () => handler(new Request('http://x/hook', { method: 'POST', headers, body }));
  const response = await workAsyncStorage.run({ afterContext } as WorkStore, () =>
    workUnitAsyncStorage.run({ type: 'request', phase: 'action' } as WorkUnitStore, respond),
  );
  let isFrozen = false;
  for (const callback of onClose) callback();
  void Promise.all(kept).then(() => (isFrozen = true));
  return { status: response.status, isFrozen: () => isFrozen, kept };
}

it('keeps the function alive until a late handler has ended', async () => {
  const end = deferred();
  const outcomes: string[] = [];
  const handler = callWebhooks({
    ...{ secret, logger, ackWithin: 10 },
    onOutcome: ({ outcome, late }) => void outcomes.push(late ? `late ${outcome}` : outcome),
    on: { 'call:completed': () => end.promise },
  });
  const { status, isFrozen, kept } = await deliver(handler);
  await setImmediate();
  expect({ status, frozen: isFrozen(), outcomes }).toEqual({
    ...{ status: 503, frozen: false, outcomes: ['deadline'] },
  });
  end.resolve();
  await Promise.all(kept);
  expect(outcomes).toEqual(['deadline', 'late handled']);
});

it('lets the function be frozen at once when nothing is late', async () => {
  const handler = callWebhooks({ secret, logger, on: { 'call:completed': () => undefined } });
  const { status, isFrozen } = await deliver(handler);
  await setImmediate();
  expect([status, isFrozen()]).toEqual([200, true]);
});
