import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import * as simulator from '@call-webhooks/simulator';
import { resolveSettings } from '../src/settings.ts';
import { testResources } from './support/test-resources.ts';

const open = testResources();
const readme = () => readFile(new URL('../README.md', import.meta.url), 'utf8');

test('the sample has ten to fifteen lines, and prints what the README says', async () => {
  const sample = /```ts\n([^]*?)```/.exec(await readme())?.[1] ?? '';
  const lines = sample.split('\n').filter((line) => line !== '');
  expect(lines.length).toBeGreaterThanOrEqual(10);
  expect(lines.length).toBeLessThanOrEqual(15);

  const { url } = await open.receiver((_received, response) => {
    response.writeHead(receiver.down ? 503 : 200).end();
  });
  const receiver = { url, down: false };
  const body = ts
    .transpile(sample, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext })
    .replace(/import (\{.*\}) from '@call-webhooks\/simulator';/, 'const $1 = main;');
  const printed: unknown[][] = [];
  const log = (...values: unknown[]): void => void printed.push(values);
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the README's own code
  const run = new Function('main', 'receiver', 'console', `return (async () => {${body}})()`) as (
    ...values: unknown[]
  ) => Promise<void>;
  await run(simulator, receiver, { log });
  expect(printed).toEqual([[{ acknowledged: 3 }, 'active']]);
});

test('every option and every chaos mode is named', async () => {
  const text = await readme();
  for (const name of [...Object.keys(resolveSettings({})), ...simulator.CHAOS_MODES])
    expect(text).toContain(`| \`${name}\` `);
});

test('every path of the control API is named', async () => {
  const folder = new URL('../src/control/', import.meta.url);
  const files = ['call', 'delivery', 'rule'].map((name) => `${name}-routes.ts`);
  const text = await readme();
  const missing: string[] = [];
  let found = 0;
  for (const file of [...files, 'control.ts', 'stream.ts']) {
    const source = await readFile(new URL(file, folder), 'utf8');
    for (const [, path = ''] of source.matchAll(/app\.\w+(?:<\w+|<\{.*\}>)?>?\(\s*'(\/[^']+)'/g)) {
      found++;
      if (!text.includes(path) && !text.includes(`…${path.slice(path.lastIndexOf('/'))}`))
        missing.push(path);
    }
  }
  expect(found).toBeGreaterThan(35);
  expect(missing).toEqual([]);
});
