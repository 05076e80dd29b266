import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { fill, setup } from './support/dead-letters.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const MODULE = fileURLToPath(new URL('support/my-store.mjs', import.meta.url));

afterEach(() => {
  delete process.env['MY_STORE_FILE'];
});

/** A receiver whose store the module opens. */
async function setupModule() {
  const made = await setup();
  process.env['MY_STORE_FILE'] = made.file;
  return { ...made, env: { CALL_WEBHOOKS_STORE: MODULE, CALL_WEBHOOK_SECRET: SECRET } };
}

describe('a store that a module exports', () => {
  test('is looked at, redriven and erased', async () => {
    const made = await setupModule();
    const { env, url, handled, deadLetters } = made;
    await fill(made, 3);
    const listed = await run(['dead-letters', 'list', '--json', '--store', MODULE]);
    expect(listed).toMatchObject({ code: 0 });
    expect(listed.records()).toHaveLength(3);
    const redriven = await run(['dead-letters', 'redrive', '--to', url, '--all', '--json'], {
      env,
    });
    expect(redriven.code).toBe(0);
    expect(handled).toHaveLength(3);
    await fill(made, 2);
    const before = ['erase', '--before', '2027-01-01', '--yes'];
    expect(await run(before, { env })).toMatchObject({ code: 0 });
    expect(await deadLetters.count()).toBe(0);
  });

  test('is examined by doctor, with what it says about itself', async () => {
    const { env, url } = await setupModule();
    const { stdout } = await run(['doctor', '--to', url], { env });
    expect(stdout).toContain('my database 1.0');
  });

  test('is told everything that it lacks', async () => {
    const { file } = await setup();
    const write = (name: string, text: string) => {
      const path = join(dirname(file), name);
      writeFileSync(path, text);
      return path;
    };
    const half = write(
      'half.mjs',
      'const call = async () => undefined;\n' +
        'export default { store: { admit: call, complete: call, release: call }, jobs: {} };',
    );
    const list = (store: string) => run(['dead-letters', 'list', '--store', store]);
    expect(await list(half)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `The default export of ${half} lacks store.extend, deadLetters, jobs.list, jobs.erase, jobs.forget.`,
      ),
    });
    const empty = write('empty.mjs', 'export const store = 1;');
    expect(await list(empty)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('lacks store, deadLetters.'),
    });
    const broken = write('broken.mjs', "throw new Error('no password');");
    expect(await list(broken)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('cannot be loaded: Error: no password'),
    });
    expect(await list('./nowhere.mjs')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('There is no file ./nowhere.mjs.'),
    });
  });
});
