import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { ClientError, ConfigurationError } from '../../src/errors.ts';
import type { Fetch } from '../../src/options.ts';
import { caught } from '../support/caught.ts';
import { testClient } from '../support/client.ts';

const readBefore = async (): Promise<Response> => {
  const response = new Response('{}');
  await response.text();
  return response;
};

describe('a fetch that returns something else than a Response', () => {
  const json = { 'content-type': 'application/json' };

  test.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, 'undefined instead of a Response'],
    ['a text', () => '{}', 'instead of a Response'],
    ['data, as axios does', () => ({ data: {} }), 'without a status'],
    ['headers as an object', () => ({ status: 200, headers: json }), 'no get()'],
    [
      'a Node stream, as node-fetch does',
      () => ({ status: 200, headers: new Headers(json), body: Readable.from(['{}']) }),
      'a Node stream',
    ],
    [
      'no body, as React Native does',
      () => ({ status: 200, headers: new Headers(json), json: () => ({}) }),
      'not a web ReadableStream',
    ],
    [
      'a body as text',
      () => ({ status: 200, headers: new Headers(json), body: '{}' }),
      'not a web ReadableStream',
    ],
    ['a body that was read before', readBefore, 'already been read'],
    [
      'a body of texts',
      () => ({
        status: 200,
        headers: new Headers(json),
        body: new ReadableStream({ start: (controller) => controller.enqueue('{}') }),
      }),
      'no bytes',
    ],
  ])('%s: the error says what is wrong', async (_, answer, message) => {
    let calls = 0;
    const fetch = (async () => (calls++, answer())) as unknown as Fetch;
    const { events, rules, calls: recordings } = testClient('https://example.com', { fetch });
    const error = await caught(events.list());
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toContain('fetch returned');
    expect(error.message).toContain(message);
    expect(calls).toBe(1);
    const downloading = recordings.recording('c').then(({ body }) => new Response(body).text());
    expect(await caught(downloading)).toBeInstanceOf(ClientError);
    // A write may have arrived, whatever its response looks like.
    const written = await caught(rules.rotateSigningSecret('r', 'a'));
    expect(written).toMatchObject({
      code: 'write-unconfirmed',
      cause: { name: 'ConfigurationError' },
    });
  });

  test('a response of another realm, with all that is needed, is taken', async () => {
    const body = new Response('{"results":[]}').body;
    const fetch = (async () => ({ status: 200, headers: new Headers(), body })) as unknown as Fetch;
    const page = await testClient('https://example.com', { fetch }).events.list();
    expect(page.results).toEqual([]);
  });
});

test('a fetch that is no function is refused at once', () => {
  expect(() => testClient('https://example.com', { fetch: {} as never })).toThrow(
    'fetch must be a function',
  );
});
