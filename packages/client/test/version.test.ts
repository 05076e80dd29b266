import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { version } from '../src/version.ts';

test('is the version of the manifest', () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  expect(version).toBe((JSON.parse(manifest) as { version: string }).version);
});
