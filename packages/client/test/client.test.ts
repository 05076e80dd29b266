import { readdirSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { createClient } from '../src/client.ts';
import { ConfigurationError } from '../src/errors/index.ts';
import * as main from '../src/index.ts';
import { version } from '../src/settings.ts';

describe('client', () => {
  test('the client shows its token to nobody who prints it', () => {
    const client = createClient({ baseUrl: 'https://example.com', apiToken: 'secret-token' });
    expect(inspect(client, { depth: 10, showHidden: true })).not.toContain('secret-token');
    expect(JSON.stringify(client)).not.toContain('secret-token');
    expect(Object.isFrozen(client)).toBe(true);
    expect(Object.keys(client)).toEqual(['baseUrl', 'events', 'calls', 'recordings', 'rules']);
  });

  test.each([
    ['https://example.com/v1', 'https://example.com'],
    ['https://example.com/v1/', 'https://example.com'],
    ['https://example.com/calls/v1', 'https://example.com/calls'],
    ['https://example.com/api/v10', 'https://example.com/api/v10'],
  ])('%s is the base URL %s', async (given, baseUrl) => {
    const requested: string[] = [];
    const fetch = (url: string) => {
      requested.push(url);
      return Promise.resolve(new Response('RIFF', { headers: { 'content-type': 'audio/wav' } }));
    };
    const client = createClient({ baseUrl: given, apiToken: 'a', fetch: fetch });
    expect(client.baseUrl).toBe(baseUrl);
    const recordingUrl = `${baseUrl}/v1/calls/c1/recording`;
    await client.recordings.ofCall('c1');
    await client.recordings.fromEvent({ recordingUrl });
    expect(requested.map(String)).toEqual([recordingUrl, recordingUrl]);
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
});

describe('index', () => {
  test('exports these values', () => {
    expect(Object.keys(main).sort()).toEqual([
      'ACTIVITY_ACTIONS',
      'ANY',
      'AmbiguousSecretError',
      'ApiError',
      'ClientError',
      'ConfigurationError',
      'ForeignOriginError',
      'InvalidResponseError',
      'NetworkError',
      'RedirectError',
      'SearchSyntaxError',
      'SecretNotSavedError',
      'TimeoutError',
      'UnconfirmedWriteError',
      'UnsupportedRuntimeError',
      'createClient',
      'defaultWireNames',
      'eventSearch',
      'formatEventSearch',
      'isActivityAction',
      'liveSecrets',
      'parseEventSearch',
      'secretsFrom',
      'systemClock',
      'version',
    ]);
  });

  test('no source imports a Node built-in or another package', () => {
    const folder = new URL('../src/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const source = readFileSync(new URL(file, folder), 'utf8');
      const targets = [
        ...source.matchAll(/^(?:import|export)[^;]*? from '([^']+)'/gm),
        ...source.matchAll(/await import\('([^']+)'\)/g),
        ...source.matchAll(/require\(([^)]*)\)/g),
      ].map(([, target]) => target);
      expect(targets.filter((target) => !target?.startsWith('.'))).toEqual([]);
    }
  });
});

describe('version', () => {
  test('is the version of the manifest', () => {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    expect(version).toBe((JSON.parse(manifest) as { version: string }).version);
  });
});
