import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { createClient } from '../src/client.ts';
import { ConfigurationError } from '../src/errors/index.ts';

test('the client shows its token to nobody who prints it', () => {
  const client = createClient({ baseUrl: 'https://example.com', apiToken: 'secret-token' });
  expect(inspect(client, { depth: 10, showHidden: true })).not.toContain('secret-token');
  expect(JSON.stringify(client)).not.toContain('secret-token');
  expect(Object.isFrozen(client)).toBe(true);
  expect(Object.keys(client)).toEqual(['events', 'calls', 'recordings', 'rules']);
});

test('plain http is for loopback, or when asked for', () => {
  const apiToken = 'secret-token';
  expect(() => createClient({ baseUrl: 'http://example.com', apiToken })).toThrow(
    ConfigurationError,
  );
  expect(() =>
    createClient({ baseUrl: 'http://example.com', apiToken, allowInsecure: true }),
  ).not.toThrow();
  expect(() => createClient({ baseUrl: 'http://localhost:1', apiToken })).not.toThrow();
});
