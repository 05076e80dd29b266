import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from '@jest/globals';
import ts from 'typescript';
import { inspectorPage } from '@call-webhooks/inspector';
import { startSimulator, type Simulator, type SimulatorOptions } from '@call-webhooks/simulator';

let started: Simulator | undefined;
afterAll(() => started?.close());

test('the sample of the README serves the page at the URL that it prints', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const sample = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? '';
  const body = ts
    .transpile(sample, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext })
    .replace(/^import .*$/gm, '');
  const printed: string[] = [];
  const start = async (options: SimulatorOptions) => (started = await startSimulator(options));
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the README's own code
  const run = new Function(
    'inspectorPage',
    'startSimulator',
    'console',
    `return (async () => {${body}})()`,
  ) as (...values: unknown[]) => Promise<void>;
  await run(inspectorPage, start, { log: (text: string) => printed.push(text) });
  expect(printed).toEqual([`Open ${started!.url}`]);
  expect(await (await fetch(started!.url)).text()).toContain('<title>');
});
