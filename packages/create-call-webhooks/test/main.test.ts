import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createReceiver } from '@call-webhooks/core';
import { COMBINATIONS } from '../scripts/combinations.ts';
import { create } from './support/create.ts';

const ALL = ['--framework', 'express', '--store', 'memory', '--ts', '--no-install'];
const ENTER = '\r';
const DOWN = '\u001b[B';
const CTRL_C = '\u0003';

let root: string;
let templates: string;
let cwd: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'create-'));
  templates = join(root, 'templates');
  const script = fileURLToPath(new URL('../scripts/build-templates.mjs', import.meta.url));
  execFileSync(process.execPath, [script, templates]);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => (cwd = mkdtempSync(join(root, 'work-'))));

const run = (args: string[], given: { env?: Record<string, string> } = {}) =>
  create(args, { cwd, templates, ...given });
const ask = (args: string[], ...answers: [RegExp, string][]) =>
  create(args, { cwd, templates, answers });
const read = (...path: string[]) => readFileSync(join(cwd, ...path), 'utf8');
const manifest = (app: string) =>
  JSON.parse(read(app, 'package.json')) as {
    name: string;
    scripts: Record<string, string>;
    dependencies: Record<string, string>;
  };

test.each(COMBINATIONS)('$name is complete', async ({ name, framework, store, language }) => {
  const kind = language === 'typescript' ? '--ts' : '--js';
  const { code } = await run([name, '-f', framework, '-s', store, kind, '--no-install']);
  expect(code).toBe(0);
  const files = readdirSync(join(cwd, name), { recursive: true, encoding: 'utf8' });
  expect(files).toEqual(
    expect.arrayContaining(['.env', '.env.example', '.gitignore', 'README.md']),
  );
  expect(files.includes('compose.yaml')).toBe(store === 'postgres' || store === 'redis');
  expect(files.some((file) => /\.tsx?$/.test(file))).toBe(language === 'typescript');
  expect(files.some((file) => /\.jsx?$/.test(file))).toBe(language === 'javascript');
  const { dependencies } = manifest(name);
  expect(dependencies).toHaveProperty(`@call-webhooks/${framework}`);
  for (const file of files.filter((one) => /\.\w+$/.test(one)))
    expect(read(name, file)).not.toMatch(/\/\/:|#:|<!--:|\{\{name|call-webhooks\/adapter/);
});

test('each app has a secret of its own, which .env.example does not have', async () => {
  await run(['one', ...ALL]);
  await run(['two', ...ALL]);
  const secretOf = (app: string) => /^CALL_WEBHOOK_SECRET=(.*)$/m.exec(read(app, '.env'))?.[1];
  expect(secretOf('one')).not.toBe(secretOf('two'));
  expect(read('one', '.env.example')).toMatch(/^CALL_WEBHOOK_SECRET=whsec_$/m);
  expect(read('one', '.gitignore').split('\n')).toContain('.env');
  expect(() => createReceiver({ secret: secretOf('one') })).not.toThrow();
});

describe('bad input', () => {
  test.each([
    [[], /Pass a folder, --framework <express\|.*>, --store <memory\|.*>, --ts or --js; or --yes/],
    [['a', '-f', 'hono', '-s', 'redis'], /Pass --ts or --js; or --yes/],
    [['a', '--framework', 'expres'], /'expres' is invalid. Allowed choices are express/],
    [['a', '--ts', '--js'], /cannot be used with/],
    [['a', '--framwork', 'hono'], /unknown option '--framwork'/],
    [['a', 'b', ...ALL], /too many arguments/],
    [['My App', ...ALL], /the package name "My App".*Pass another one: --name/],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('a folder that is not empty, unless it may be written to', async () => {
    mkdirSync(join(cwd, 'full'));
    writeFileSync(join(cwd, 'full/notes.txt'), 'mine');
    const refused = await run(['full', ...ALL]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/full is not empty.*--overwrite/);
    expect(readdirSync(join(cwd, 'full'))).toEqual(['notes.txt']);

    expect((await run(['full', '--overwrite', ...ALL])).code).toBe(0);
    expect(read('full', 'notes.txt')).toBe('mine');
    expect(manifest('full').name).toBe('full');
  });
});

describe('an .env that is there', () => {
  const overwrite = async (before: string) => {
    writeFileSync(join(cwd, '.env'), before);
    const flags = ['-f', 'koa', '-s', 'redis', '--js', '--no-install'];
    const { stdout } = await run(['.', '--name', 'app', '--overwrite', ...flags]);
    return { stdout, after: read('.env') };
  };

  test('keeps all that it has', async () => {
    const before = 'API_KEY=mine\nexport CALL_WEBHOOK_SECRET=whsec_mine\nPORT=1\nREDIS_URL=r';
    const { stdout, after } = await overwrite(before);
    expect(after).toBe(before);
    expect(stdout).toMatch(/^Kept your \.env\.$/m);
  });

  test('gets what it lacks', async () => {
    const { stdout, after } = await overwrite('API_KEY=mine');
    expect(after).toMatch(/^API_KEY=mine\nCALL_WEBHOOK_SECRET=whsec_\S{32}\nPORT=3000\nREDIS_URL=/);
    expect(stdout).toMatch(/^Kept your \.env, and added CALL_WEBHOOK_SECRET, PORT, REDIS_URL\.$/m);
  });
});

test('--yes takes the defaults, and no questions are asked on a terminal', async () => {
  const { code, stdout } = await ask(['--yes', '--no-install']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Created call-webhooks-app \(Express, memory, TypeScript\)/);
});

test('. is the folder itself', async () => {
  const { code, stdout } = await run(['.', '--name', 'my-app', ...ALL]);
  expect(code).toBe(0);
  expect(JSON.parse(read('package.json'))).toMatchObject({ name: 'my-app' });
  expect(stdout).not.toMatch(/^ *cd /m);
});

test.each([
  ['pnpm/10.2.0 npm/? node/v22.0.0 linux x64', 'pnpm run dev', 'pnpm run test'],
  ['yarn/4.1.0 npm/? node/v22.0.0 linux x64', 'yarn run dev', 'yarn run test'],
  ['bun/1.3.0 npm/? node/v22.0.0 linux x64', 'bun run dev', 'bun run test'],
  ['npm/11.0.0 node/v22.0.0 linux x64', 'npm run dev', 'npm test'],
])('started by %s', async (npm_config_user_agent, dev, tests) => {
  const { stdout } = await run(['app', ...ALL], { env: { npm_config_user_agent } });
  const lines = stdout.split('\n').map((line) => line.trim());
  expect(lines.some((line) => line.startsWith(dev))).toBe(true);
  expect(lines.some((line) => line.startsWith(tests))).toBe(true);
  expect(read('app', 'README.md')).toContain(`\`${dev}\``);
  expect(manifest('app').scripts['dev']).toContain(`${dev.split(' ')[0] ?? ''}:dev:app`);
});

test('--help and --version', async () => {
  const help = await run(['--help']);
  expect(help.code).toBe(0);
  expect(help.stdout).toMatch(/Examples:\n.*npm create call-webhooks/);
  const { stdout } = await run(['--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe('on a terminal', () => {
  test('asks for what is missing', async () => {
    const { code, stdout } = await ask(
      [],
      [/In which folder/, `mine${ENTER}`],
      [/Which framework/, `${DOWN}${ENTER}`],
      [/Which store/, `${DOWN}${DOWN}${ENTER}`],
      [/TypeScript or JavaScript/, `${DOWN}${ENTER}`],
      [/Install the dependencies/, 'n'],
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/Created mine \(Fastify, Postgres, JavaScript\)/);
    expect(stdout).toMatch(/docker compose up/);
  });

  test('does not ask for what is given', async () => {
    const { code } = await ask(['app', ...ALL.slice(0, 4), '--no-install'], [/JavaScript/, ENTER]);
    expect(code).toBe(0);
  });

  test('asks for a name, if the folder has none that npm accepts', async () => {
    const { code } = await ask(['My App', ...ALL], [/name of the package/, ENTER]);
    expect(code).toBe(0);
    expect(manifest('My App').name).toBe('my-app');
  });

  test.each([0, 1, 2])('Ctrl-C at question %i leaves nothing', async (at) => {
    const questions: [RegExp, string][] = [
      [/In which folder/, `mine${ENTER}`],
      [/Which framework/, ENTER],
      [/Which store/, ENTER],
    ];
    const asked = [...questions.slice(0, at), [questions[at]![0], CTRL_C] as [RegExp, string]];
    const { code, stderr } = await ask([], ...asked);
    expect(code).toBe(130);
    expect(stderr).toMatch(/Cancelled. Nothing was created./);
    expect(readdirSync(cwd)).toEqual([]);
  });
});
