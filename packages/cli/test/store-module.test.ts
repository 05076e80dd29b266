import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { handlerError, PERSON } from '@call-webhooks/contract-tests/planted';
import { waitFor } from '@call-webhooks/contract-tests';
import { sign } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import { assistant } from './support/assistant.ts';
import { closing, fill, setup } from './support/dead-letters.ts';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const MODULE = fileURLToPath(new URL('support/my-store.mjs', import.meta.url));

afterEach(() => {
  delete process.env['MY_STORE_FILE'];
  delete process.env['MY_STORE_WITHOUT'];
  delete process.env['MY_STORE_PROBLEMS'];
});

/** A receiver whose store the module opens. */
async function setupModule(options: Parameters<typeof setup>[0] = {}) {
  const made = await setup(options);
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
    expect(stdout).toContain('my database 1.0, opened to read responds.');
    expect(stdout).not.toContain('a receiver uses');
  });

  test('has its problems printed by doctor, and is told which member of its report is wrong', async () => {
    const { env, url } = await setupModule();
    const told = async (command: string[], ...problems: unknown[]) => {
      process.env['MY_STORE_PROBLEMS'] = JSON.stringify(problems);
      const { code, stdout, stderr } = await run(command, { env });
      return { code, text: (stdout + stderr).replace(/\s+/g, ' ') };
    };
    const doctor = ['doctor', '--to', url];
    const problem = { result: 'bad', text: 'It is a replica.', fix: 'Use the primary.' };
    expect((await told(doctor, problem)).text).toMatch(
      /bad +store +It is a replica\. Fix: Use the/,
    );
    const wrong: [unknown, string][] = [
      ['It is a replica.', "problems[1].result must be 'warn' or 'bad'"],
      [{ text: 'It is a replica.', fix: '' }, "problems[1].result must be 'warn' or 'bad'"],
      [{ ...problem, text: undefined }, 'problems[1].text must be a string'],
      [{ ...problem, fix: 1 }, 'problems[1].fix must be a string'],
    ];
    for (const [one, expected] of wrong)
      expect((await told(doctor, problem, one)).text).toContain(expected);
    expect(await told(['status'], 'a text')).toMatchObject({
      ...{ code: 2, text: expect.stringContaining('problems[0].result must be') },
    });
  });

  test('has a --prefix that is wrong, or has no effect, named by doctor', async () => {
    const made = await setupModule();
    await fill(made, 1);
    const check = async (store: string, ...flags: string[]) => {
      const { stdout } = await run(['doctor', '--store', store, ...flags], made);
      return stdout.replace(/\s+/g, ' ');
    };
    expect(await check(MODULE, '--prefix', 'other_')).toContain(
      `warn store With --prefix other_, the store of ${MODULE} has no deliveries and no dead letters.`,
    );
    const empty = await run(['status', '--store', MODULE, '--prefix', 'other_'], made);
    expect(empty).toMatchObject({ code: 3, stderr: expect.stringContaining('has no deliveries') });
    expect(await check(MODULE, '--prefix', 'call_webhooks_')).not.toContain('--prefix');
    const object = join(dirname(made.file), 'object.mjs');
    writeFileSync(object, `import open from '${MODULE}';\nexport default await open({});\n`);
    expect(await check(object, '--prefix', 'other_')).toContain(
      `warn store --prefix other_ has no effect, because ${object} exports an object.`,
    );
    expect(await check(object)).not.toContain('--prefix');
  });

  test('that is down is told by status, also without a log and without a report', async () => {
    const { file } = await setup();
    const path = join(dirname(file), 'down.mjs');
    writeFileSync(
      path,
      `const call = async () => { throw new Error('no connection'); };
       const names = ['admit', 'complete', 'release', 'extend', 'put', 'list', 'count', 'get', 'remove', 'claim', 'settle', 'giveBack'];
       const all = Object.fromEntries(names.map((name) => [name, call]));
       export default { store: all, deadLetters: all };`,
    );
    expect(await run(['status', '--store', path])).toMatchObject({
      ...{ code: 1, stdout: expect.stringMatching(/does not answer, so every[^]*no connection/) },
    });
  });

  test('shows in status what fails, and says what it lacks for that', async () => {
    const { env, url, store } = await setupModule({
      deadLetter: undefined,
      on: { 'call:completed': () => Promise.reject(handlerError()) },
    });
    const body = JSON.stringify({ eventName: 'call:completed', callId: 'c1', ...PERSON });
    for (let sent = 0; sent < 3; sent++)
      await fetch(url, {
        ...{ method: 'POST', body },
        headers: { ...(await sign({ secret: SECRET, body })) },
      });
    await waitFor(async () => (await store.log?.read())?.rows.length === 3);
    const found = await run(['status'], { env });
    expect(found).toMatchObject({ code: 1, stderr: '' });
    expect(found.stdout).toContain('call:completed is failing');
    process.env['MY_STORE_WITHOUT'] = 'log';
    expect(await run(['status'], { env })).toMatchObject({
      ...{ code: 3, stdout: 'Unknown: The store keeps no outcome log.\n' },
      stderr: expect.stringMatching(/Add a log to the store/),
    });
    process.env['MY_STORE_WITHOUT'] = 'peek,ping,loadCursor,saveCursor';
    const few = await run(['status'], { env });
    expect(few).toMatchObject({ code: 1, stderr: '' });
    expect(few.stdout).toContain('call:completed is failing');
  });

  test('is what a reconcile looks the events up in, if it has peek', async () => {
    const handled: (string | undefined)[] = [];
    const { env: ofStore, url } = await setupModule({
      on: { 'call:completed': ({ callId }) => void handled.push(callId) },
    });
    const simulator = await startSimulator({});
    closing.push(() => simulator.close());
    simulator.rules.create({
      ...{ trigger: 'call:completed', scope: 'workspace', name: 'mine' },
      actions: [{ url, secret: SECRET }],
    });
    const call = () => {
      const { _id } = simulator.calls.start({ recorded: false });
      simulator.calls.end(_id);
      return _id;
    };
    const first = call();
    await simulator.events.settled();
    for (const { _id } of simulator.rules.list()) simulator.rules.pause(_id);
    const missed = call();
    const env = {
      ...ofStore,
      CALL_WEBHOOKS_BASE_URL: simulator.url,
      CALL_WEBHOOKS_API_TOKEN: simulator.apiToken,
    };
    const reconcile = ['reconcile', '--since', '1h', '--until', '0s', '--json'];
    const looked = await run([...reconcile, '--dry-run'], { env });
    expect(looked).toMatchObject({ code: 1, stderr: '' });
    const event = { type: 'event', eventName: 'call:completed' };
    expect(looked.records()).toContainEqual({ ...event, callId: missed, missed: true });
    const known = { ...event, callId: first, missed: false, state: 'handled' };
    expect(looked.records()).toContainEqual(known);
    expect(looked.records().at(-1)).toMatchObject({ seen: 2, missed: 1, known: 1 });
    expect((await run([...reconcile, '--to', url], { env })).code).toBe(0);
    expect(handled).toEqual([first, missed]);
    process.env['MY_STORE_WITHOUT'] = 'peek';
    const cannot = await run([...reconcile, '--dry-run'], { env });
    expect(cannot).toMatchObject({ code: 2, stderr: expect.stringContaining('has no peek()') });
  });

  test('is opened to be read by mcp, whose tools answer from it', async () => {
    const made = await setupModule();
    await fill(made, 2);
    const { ask } = await assistant(['--to', made.url], made.env);
    expect((await ask('deliveries', { limit: 1 })).answer).toMatchObject({ rows: [] });
    expect((await ask('doctor')).text).toContain('my database 1.0, opened to read responds');
    const { answer: groups } = await ask('dead_letters');
    expect(groups).toMatchObject({ letters: 2 });
    expect((await ask('status')).answer).toHaveProperty('attention');
    process.env['MY_STORE_WITHOUT'] = 'log,peek';
    const { ask: askFew } = await assistant(['--to', made.url], made.env);
    const noLog = 'keeps no outcome log';
    expect((await askFew('status')).answer['unknown']).toBe('The store keeps no outcome log.');
    expect((await askFew('deliveries')).text).toContain(noLog);
    expect((await askFew('call', { callId: 'c1' })).answer).toMatchObject({
      events: expect.stringContaining('cannot look up the state'),
      deliveries: expect.stringContaining(noLog),
    });
  });

  test.each<[command: string, readOnly: boolean, code: number]>([
    ['dead-letters list', true, 0],
    ['dead-letters causes', true, 0],
    ['dead-letters show nosuch', true, 2],
    ['dead-letters remove nosuch --yes', false, 2],
    ['dead-letters redrive nosuch --to 1/hook', false, 2],
    ['dead-letters redrive --all --to 1/hook', false, 0],
    ['erase --call c1 --dry-run', false, 0],
    ['erase --call c1 --yes', false, 0],
    ['status', true, 3],
    ['doctor', true, 0],
    ['reconcile --since 1h --dry-run', true, 0],
  ])(
    'is opened once by %s, to read alone: %j, and closed at the end',
    async (command, readOnly, code) => {
      const { file } = await setup();
      const path = join(dirname(file), 'told.mjs');
      const told = join(dirname(file), 'told.txt');
      writeFileSync(
        path,
        `import { appendFileSync } from 'node:fs';
       const tell = (text) => appendFileSync(${JSON.stringify(told)}, text + '\\n');
       const none = async () => ({ letters: [] });
       const call = async () => 0;
       const names = ['admit', 'complete', 'release', 'extend', 'put', 'remove', 'claim', 'settle', 'giveBack', 'count'];
       const all = Object.fromEntries(names.map((name) => [name, call]));
       const deadLetters = { ...all, list: none, get: async () => undefined };
       export default ({ readOnly }) => {
         tell('opened ' + readOnly);
         const peek = async (keys) => keys.map(() => undefined);
         return { store: { ...all, peek }, deadLetters, close: async () => tell('closed') };
       };`,
      );
      const service = await receiver(() => ({ status: 200, body: '{"results":[]}' }));
      closing.push(() => service.close());
      const env = {
        ...{ CALL_WEBHOOKS_STORE: path, CALL_WEBHOOK_SECRET: SECRET },
        ...{ CALL_WEBHOOKS_BASE_URL: new URL(service.url).origin, CALL_WEBHOOKS_API_TOKEN: 't' },
      };
      const ended = await run(command.split(' '), { env });
      const lines = readFileSync(told, 'utf8').trim().split('\n');
      expect([lines, ended.code]).toEqual([[`opened ${readOnly}`, 'closed'], code]);
    },
  );

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
        `The default export of ${half} does not have store.extend, deadLetters, jobs.list, jobs.erase, jobs.forget.`,
      ),
    });
    const empty = write('empty.mjs', 'export const store = 1;');
    expect(await list(empty)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not have store, deadLetters.'),
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
