import { expect, test } from '@jest/globals';
import { defaultWireNames } from '../src/wire.ts';

test('the default webhook action has a payload only when there is one', () => {
  const { webhookAction } = defaultWireNames;
  const url = 'https://receiver.example.com/hook';
  expect(webhookAction({ url })).toEqual({ type: 'webhook', url });
  expect(webhookAction({ url, payload: { a: 1 } })).toEqual({
    type: 'webhook',
    url,
    payload: { a: 1 },
  });
});
