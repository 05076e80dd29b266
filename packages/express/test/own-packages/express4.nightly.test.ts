import { expect, it } from '@jest/globals';
import { serveLocally } from '@call-webhooks/contract-tests';
import { createConsole } from '@call-webhooks/console';
import { createReceiver } from '@call-webhooks/core';
import { nodeHandler } from '@call-webhooks/core/node';
import { callCompleted, deliver, TEST_SECRET } from '@call-webhooks/testing';
// @ts-expect-error it has no types of its own: those of Express 5 are used
import express4 from 'express4';
import type express from 'express';
import { expressTests } from '../express-tests.ts';

const framework = express4 as typeof express;

expressTests('Express 4', framework);

it('the console can be mounted on Express 4, and its apps can be tested', async () => {
  const receiver = createReceiver({
    secret: TEST_SECRET,
    on: { 'call:completed': () => undefined },
  });
  const console = createConsole({ receiver, authorize: () => ({ name: 'Ada' }) });
  const app = framework().use('/ops/webhooks', console).all('/hook', nodeHandler(receiver));
  expect(await deliver(app, callCompleted())).toMatchObject({ outcome: 'handled' });
  const { origin, close } = await serveLocally(app);
  const page = await fetch(`${origin}/ops/webhooks/`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('<html');
  await close();
  console.close();
  await receiver.close();
});
