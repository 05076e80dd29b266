import { expect, test } from '@jest/globals';
import { createDeadline } from '../../src/http/deadline.ts';
import { apiError } from '../../src/http/failure.ts';
import { createRedactor } from '../../src/http/redact.ts';
import { testSettings, TOKEN } from '../support/client.ts';
import { TestClock, TIMEOUT } from '../support/clock.ts';

const spec = { method: 'GET', url: new URL('https://example.com/v1/events?search=x') } as const;

function fail(body: string | ReadableStream | null, headers: Record<string, string> = {}) {
  const answer = {
    response: new Response(body, { status: 400, headers }),
    redactor: createRedactor([TOKEN]),
  };
  const clock = new TestClock();
  const deadline = createDeadline(clock, TIMEOUT, 'GET /', undefined);
  return apiError(testSettings('https://example.com', { clock }), spec, answer, deadline);
}

test.each([
  [{ code: 'no_search' }, 'no_search'],
  [{ error: { code: 'deep' } }, 'deep'],
  [{ error: 'flat' }, 'flat'],
  [{ error: 'a whole sentence' }, undefined],
  [{ code: 7 }, undefined],
  [[], undefined],
  [null, undefined],
])('the service code of %j is %p', async (body, serviceCode) => {
  const error = await fail(JSON.stringify(body));
  expect(error.serviceCode).toBe(serviceCode);
  expect(error.body).toEqual(body);
});

test('reads the request id and Retry-After', async () => {
  const error = await fail('x', { 'x-request-id': 'req-1', 'retry-after': '3' });
  expect(error).toMatchObject({ requestId: 'req-1', retryAfter: 3, path: '/v1/events', body: 'x' });
});

test('an answer that repeats the token is cleaned, whatever its form', async () => {
  const error = await fail(JSON.stringify({ code: TOKEN, sent: [`${TOKEN}!`] }), {
    'x-request-id': TOKEN,
  });
  expect(error.body).toEqual({ code: '[hidden]', sent: ['[hidden]!'] });
  expect(error.requestId).toBe('[hidden]');
  expect((await fail(`<b>${TOKEN}</b>`)).body).toBe('<b>[hidden]</b>');
});

test('a body that is empty, huge or broken does not hide the status', async () => {
  expect((await fail(null)).body).toBeUndefined();
  expect((await fail('x'.repeat(65_536))).body).toHaveLength(65_536);
  expect((await fail('x'.repeat(65_537))).body).toBeUndefined();
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
  await expect(fail(broken)).resolves.toMatchObject({ status: 400, body: undefined });
});
