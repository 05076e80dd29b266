import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import type { Client } from '../../src/client.ts';
import { caught } from '../support/caught.ts';
import { testClient } from '../support/client.ts';

// However a call ends, it lets go of the response that it got, and of the signal of its caller.

const ORIGIN = 'https://api.example.com';

/** A client whose service gives such a response, with a body that never ends, and what becomes of the body. */
function against(init: ResponseInit) {
  const ends: string[] = [];
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const fetch = async () => {
    const body = new ReadableStream<Uint8Array>(
      {
        pull: () => isAsked(),
        cancel: () => void ends.push('cancelled'),
      },
      { highWaterMark: 0 },
    );
    return new Response(body, init);
  };
  return { client: testClient(ORIGIN, { fetch, retries: 0 }), ends, asked };
}

type Call = (client: Client, signal: AbortSignal) => Promise<unknown>;
const list: Call = ({ events }, signal) => events.list({ signal });
const recording: Call = ({ calls }, signal) => calls.recording('c', { signal });
const rotate: Call = ({ rules }, signal) => rules.rotateSigningSecret('r', 'a', { signal });
const type = (value: string) => ({ status: 200, headers: { 'content-type': value } });
const moved = (location: string) => ({ status: 302, headers: { location } });

test.each<[what: string, response: ResponseInit, call: Call, code: string]>([
  ['a recording that is JSON', type('application/json'), recording, 'invalid-response'],
  ['one that is a web page', type('text/html; charset=utf-8'), recording, 'invalid-response'],
  ['one that is XML', type('application/atom+xml'), recording, 'invalid-response'],
  ['a part that was not asked for', { status: 206 }, recording, 'invalid-response'],
  ['a redirect to plain http', moved('http://api.example.com/x'), list, 'redirect'],
  ['a redirect of a write', moved(`${ORIGIN}/x`), rotate, 'write-unconfirmed'],
])('%s', async (_what, response, call, code) => {
  const { client, ends } = against(response);
  const { signal } = new AbortController();
  expect(await caught(call(client, signal))).toMatchObject({ code });
  expect(ends).toEqual(['cancelled']);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

describe.each([
  ['a page', { status: 200 }, list],
  ['an error', { status: 500 }, list],
  ['the error of a recording', { status: 404 }, recording],
] as const)('an abort while the body of %s is awaited', (_what, response, call) => {
  test('is its reason, and lets go of the body', async () => {
    const { client, ends, asked } = against(response);
    const controller = new AbortController();
    const failure = caught(call(client, controller.signal));
    await asked;
    controller.abort(new Error('enough'));
    expect(await failure).toMatchObject({ message: 'enough' });
    expect(ends).toEqual(['cancelled']);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

test('an abort while the response to a write is awaited says that it may have been done', async () => {
  for (const status of [200, 500]) {
    const { client, ends, asked } = against({ status });
    const controller = new AbortController();
    const failure = caught(rotate(client, controller.signal));
    await asked;
    controller.abort(new Error('enough'));
    expect(await failure).toMatchObject({
      code: 'write-unconfirmed',
      cause: { message: 'enough' },
    });
    expect([status, ends]).toEqual([status, ['cancelled']]);
  }
});
