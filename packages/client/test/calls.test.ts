import { describe, expect, test } from '@jest/globals';
import { ConfigurationError, InvalidResponseError } from '../src/errors/index.ts';
import { caught } from './support/caught.ts';
import { testClient, TOKEN } from './support/client.ts';
import { sendJson } from './support/server.ts';
import { useServer } from './support/use-server.ts';

describe('calls', () => {
  const server = useServer();

  test('lists and iterates call records as they come', async () => {
    server.answer = ({ url }, response) =>
      url.includes('next=2')
        ? sendJson(response, { results: [{ _id: 'c2' }] })
        : sendJson(response, { results: [{ _id: 'c1', anything: [1] }], next: '2' });
    const { calls } = testClient(server.origin);
    const page = await calls.list({
      query: { userId: 'u', skip: undefined, recorded: true },
      limit: 1,
    });
    expect(page).toMatchObject({
      results: [{ _id: 'c1', anything: [1] }],
      next: '2',
      hasNext: true,
    });
    expect(server.requests[0]?.url).toBe('/v1/calls?userId=u&recorded=true&limit=1');
    const ids: string[] = [];
    for await (const { _id } of calls.iterate()) ids.push(_id);
    expect(ids).toEqual(['c1', 'c2']);
  });

  test('the records may stand in another field', async () => {
    server.answer = (_, response) => sendJson(response, { calls: [{ _id: 'c1' }] });
    const page = await testClient(server.origin, { wire: { callsField: 'calls' } }).calls.list();
    expect(page.results).toEqual([{ _id: 'c1' }]);
  });

  test('an unknown list shape names the setting and the field that fits', async () => {
    server.answer = (_, response) => sendJson(response, { data: { calls: [{ _id: 'c1' }] } });
    const error = await caught(testClient(server.origin).calls.list());
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toContain('Set wire.callsField');
    expect(error.message).toContain('"data.calls"');
    const events = await caught(testClient(server.origin).events.list());
    expect(events.message).toBe('GET /v1/events: the response has no array "results"');
  });

  test('pages are followed by the Link header', async () => {
    server.answer = ({ url }, response) =>
      url.includes('next=2')
        ? sendJson(response, { results: [{ _id: 'c2' }] })
        : sendJson(response, { results: [{ _id: 'c1' }] }, 200, {
            link: '</v1/calls?next=2>; rel="next"',
          });
    const ids: string[] = [];
    for await (const { _id } of testClient(server.origin).calls.iterate()) ids.push(_id);
    expect(ids).toEqual(['c1', 'c2']);
  });

  test('a recording is a stream with its type and length', async () => {
    server.answer = (_, response) => {
      response.writeHead(200, {
        'content-type': 'audio/mpeg',
        'content-length': '5',
        etag: '"v1"',
      });
      response.end('sound');
    };
    const recording = await testClient(server.origin).calls.recording('call/1');
    expect(recording).toMatchObject({ contentType: 'audio/mpeg', contentLength: 5, etag: '"v1"' });
    await expect(new Response(recording.body).text()).resolves.toBe('sound');
    expect(server.requests[0]).toMatchObject({ url: '/v1/calls/call%2F1/recording' });
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-token': TOKEN,
      'accept-encoding': 'identity',
    });
  });

  test('a recording that is not there, and an id that is none', async () => {
    server.answer = (_, response) => sendJson(response, {}, 404);
    const { calls } = testClient(server.origin);
    expect(await caught(calls.recording('c'))).toMatchObject({ code: 'not-found', status: 404 });
    expect(await caught(calls.recording('..'))).toBeInstanceOf(ConfigurationError);
    expect(server.requests).toHaveLength(1);
  });
});
