import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { ROOT } from './files.ts';
import { writeSamples } from './samples.ts';

// What the page shows is run by the tests of the page, as a reader would run them.

const TEST = 'node --import tsx --conditions=@call-webhooks/source --test-reporter=tap --test';

const [store, letters, tests] = writeSamples(
  'write-a-store',
  (document) => document === 'docs/write-a-store.md',
);
const folder = dirname(tests!.file);

/** Runs a program of this repository. */
const run = (command: string, ...more: string[]) => {
  const [program = '', ...args] = command.split(' ');
  return promisify(execFile)(program, [...args, ...more], { cwd: ROOT, maxBuffer: 1e8 });
};

it('the store and the dead letters of the page keep every promise, by the tests of the page', async () => {
  const text = readFileSync(tests!.file, 'utf8')
    .replace(/^declare function myStore.*$/m, `import { myStore } from '${store!.file}';`)
    .replace(
      /^declare function myDeadLetters\([^]*?\): DeadLetters;$/m,
      `import { myDeadLetters } from '${letters!.file}';`,
    );
  expect(text).not.toMatch(/^declare /m);
  const file = join(folder, 'my-store.test.ts');
  writeFileSync(file, text);
  const { stdout } = await run(TEST, file).catch((error: unknown) => error as { stdout: string });
  expect(stdout.match(/^ *not ok .*$|Broken promise: .*$/gm)).toBeNull();
  expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(75);
});

it('the module of the page opens them for the command line', async () => {
  const page = readFileSync(join(ROOT, 'docs/write-a-store.md'), 'utf8');
  const [, code = ''] = /^```mjs\n([^]*?)^```/m.exec(page) ?? [];
  const module = join(folder, 'my-store.mjs');
  const resolved = code
    .replace('./my-dead-letters.js', letters!.file)
    .replace('./my-events.js', store!.file)
    .replace("'calls.db'", "':memory:'");
  writeFileSync(module, resolved);
  const cli = 'node --import tsx --conditions=@call-webhooks/source packages/cli/src/bin.ts';
  const listed = await run(cli, 'dead-letters', 'list', '--store', module);
  expect(listed.stdout + listed.stderr).toMatch(/no dead letters/i);
});
