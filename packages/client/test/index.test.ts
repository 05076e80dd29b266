import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import * as main from '../src/index.ts';

test('exports these values', () => {
  expect(Object.keys(main).sort()).toEqual([
    'ACTIVITY_ACTIONS',
    'ANY',
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
