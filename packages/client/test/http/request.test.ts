import { expect, test } from '@jest/globals';
import { ConfigurationError } from '../../src/errors/index.ts';
import { describe as describeRequest, endpoint, pathSegment } from '../../src/http/request.ts';

test('an id stays one segment of the path', () => {
  expect(pathSegment('callId', 'a/b?c#d %2e')).toBe('a%2Fb%3Fc%23d%20%252e');
});

test.each(['', '.', '..', '\ud800', undefined, 5])('%j is no id', (id) => {
  expect(() => pathSegment('callId', id)).toThrow(ConfigurationError);
});

test('an endpoint keeps the path of the base URL, and leaves undefined parameters out', () => {
  const query = { search: 'to:a&b', next: undefined, limit: 5 };
  expect(endpoint(new URL('https://example.com'), '/events', query).href).toBe(
    'https://example.com/v1/events?search=to%3Aa%26b&limit=5',
  );
  expect(endpoint(new URL('https://example.com/api'), '/calls').href).toBe(
    'https://example.com/api/v1/calls',
  );
});

test('errors name a request without its query', () => {
  const url = new URL('https://example.com/v1/events?search=to:ann@example.com');
  expect(describeRequest({ method: 'GET', url })).toBe('GET /v1/events');
});
