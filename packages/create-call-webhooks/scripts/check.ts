// Creates every app with the packed packages, outside of this repository, and uses it as its owner would:
// types, lint, format, tests, start, deliveries. Run `npm run build` first.
//   --all   also builds the apps of Next that are left out otherwise
//   --keep  keeps the folder, and prints where it is
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '@call-webhooks/contract-tests/servers/postgres';
import { redisServer } from '@call-webhooks/contract-tests/servers/redis';
import { BUILT_IN_CI, COMBINATIONS, type Combination } from './combinations.ts';
import { checkDevMode } from './dev-mode.ts';
import { installAlone, installShared, pack } from './install.ts';
import { each, run } from './run.ts';
import { checkRunning } from './running-app.ts';
import { checkFormat, compile, lint } from './static-checks.ts';

const { values } = parseArgs({
  options: { all: { type: 'boolean' }, keep: { type: 'boolean' }, only: { type: 'string' } },
});
const combinations = COMBINATIONS.filter(({ name }) => new RegExp(values.only ?? '').test(name));
const work = mkdtempSync(join(tmpdir(), 'create-call-webhooks-'));
const apps = join(work, 'apps');
const folderOf = ({ name }: Combination) => join(apps, name);
const isNext = ({ framework }: Combination) => framework === 'next';
const isTypeScript = ({ language }: Combination) => language === 'typescript';

const begun = performance.now();
async function step(what: string, work: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  await work();
  console.log(`${String(Math.round((performance.now() - from) / 1000)).padStart(4)} s  ${what}`);
}

function create(folder: string, { name, framework, store, language }: Combination) {
  const program = join(work, 'node_modules/create-call-webhooks/dist/esm/bin.js');
  const flags = ['--framework', framework, '--store', store, '--no-install'];
  const kind = language === 'typescript' ? '--ts' : '--js';
  return run(folder, process.execPath, program, name, ...flags, kind);
}

/** What `npm test` runs: npm itself would take as long again. */
const testOf = (one: Combination) => {
  const manifest = readFileSync(join(folderOf(one), 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { scripts: { test: string } }).scripts.test;
};

let tarballs = new Map<string, string>();
try {
  mkdirSync(apps);
  await step('pack the packages', async () => (tarballs = await pack(join(work, 'tarballs'))));
  await step('install what all apps need, once', () => installShared(work, tarballs));
  await step(`create ${String(combinations.length)} apps`, () =>
    each(combinations, async (one) => {
      await create(apps, one);
    }),
  );
  await step('format', () => each(combinations, (one) => checkFormat(folderOf(one))));
  await step('types', () => {
    for (const one of combinations.filter(isTypeScript)) {
      compile(folderOf(one), 'tsconfig.json');
      if (!isNext(one)) compile(folderOf(one), 'tsconfig.build.json'); // as `npm run build`
    }
    return Promise.resolve();
  });
  // Frameworks and stores meet nowhere else: linting all apps takes three times as long.
  const linted = combinations.filter(
    ({ framework, store, language }) =>
      language === 'javascript' || store === 'postgres' || /express|next/.test(framework),
  );
  await step('lint', () => lint(work, linted.map(folderOf)));
  await step('test each', () =>
    each(combinations, async (one) => {
      await run(folderOf(one), 'sh', '-c', testOf(one));
    }),
  );

  const built = combinations.filter(
    (one) => isNext(one) && (values.all === true || BUILT_IN_CI.has(one.name)),
  );
  await step(`npm run build in ${String(built.length)} apps of Next`, async () => {
    for (const one of built) await run(folderOf(one), 'npm', 'run', 'build');
  });
  const started = [...combinations.filter((one) => !isNext(one)), ...built];
  await step(`start ${String(started.length)} apps and deliver to them`, async () => {
    const redis = await redisServer();
    await redis.start();
    const postgres = await startPostgres();
    const env = {
      REDIS_URL: `redis://127.0.0.1:${String(redis.port)}`,
      DATABASE_URL: postgres.url,
    };
    try {
      await each(started, (one) =>
        checkRunning(folderOf(one), { remembers: one.store !== 'memory', env }),
      );
    } finally {
      await Promise.all([redis.stop(), postgres.remove()]);
    }
  });

  const alone = COMBINATIONS.find(({ name }) => name === 'fastify-sqlite-typescript');
  if (alone)
    await step(`${alone.name} by itself: npm install, test, typecheck, build, dev`, async () => {
      const folder = join(work, 'alone');
      mkdirSync(folder);
      await create(folder, alone);
      const app = join(folder, alone.name);
      await installAlone(app, tarballs);
      for (const script of ['test', 'typecheck', 'build']) await run(app, 'npm', 'run', script);
      await checkDevMode(app);
    });
  const seconds = String(Math.round((performance.now() - begun) / 1000));
  console.log(`Every app works. It took ${seconds} s.`);
} finally {
  if (values.keep === true) console.log(`The apps are in ${apps}`);
  else rmSync(work, { recursive: true, force: true });
}
