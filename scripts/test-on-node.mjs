// Runs tests on other Node.js versions than the installed one. Their binaries come from npm's `node` package.
// `npm run test:node -- [versions] [test paths | --rest | --all]`. The default is Node 22 and 26, and the
// packages whose results depend on the runtime most, with their integration tests: core, SQLite and the
// simulator, and on 26 Redis, Postgres and MySQL as well.
// The queue on pg-boss is also run with pg-boss 12.
// `--rest` runs all other tests, those of the docs and examples too. Nightly tests run on the installed Node only.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/node-versions');
const VERSIONS = ['22', '26'];
const testsOf = (...packages) => packages.map((name) => `packages/${name}/`);
const TESTS = testsOf('core', 'sqlite', 'simulator');
/** Their clients need nothing new of Node, so the oldest and the newest version are enough. */
const NEWEST_ONLY = testsOf('redis', 'postgres', 'mysql');
const SHARES = { '--all': [], '--rest': [...TESTS, ...NEWEST_ONLY].map(ignored) };

/** pg-boss 12 needs Node 22, so this repository, which supports 20, can't depend on it. */
const PG_BOSS = 'pg-boss@~12.38.0';
const PG_BOSS_TESTS = ['dead-jobs', 'given-up', 'queue-contract', 'complete-in-worker'].map(
  (name) => `packages/postgres/test/${name}`,
);

/** Given once, it replaces the patterns of the configuration: integration tests run as well. */
function ignored(pattern) {
  return `--testPathIgnorePatterns=${pattern}`;
}

/** Installs a package in the cache, if it is missing, and returns the path of one of its files. */
function installed(folderName, name, file) {
  const folder = join(CACHE, folderName);
  const path = join(folder, 'node_modules', file);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const args = [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts=false', // the `node` package installs its binary with one
      '--engine-strict=false', // npm runs on the installed Node
      name,
    ];
    execFileSync('npm', args, { cwd: folder, stdio: 'inherit' });
  }
  return path;
}

function runTests(version, tests, more = {}) {
  const node = installed(version, `node@${version}`, 'node/bin/node');
  const exact = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  console.log(`\n== Node ${exact}: ${tests.join(' ') || 'all tests'}`);
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const { status } = spawnSync(
    node,
    [...jest, ...tests, ignored('/node_modules/|/\\.samples/|/test/inspector/|\\.nightly\\.test')],
    {
      cwd: ROOT,
      stdio: 'inherit',
      // Programs that a test starts have to run on this version, too.
      env: { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH, ...more },
    },
  );
  return status === 0;
}

const args = process.argv.slice(2);
const versions = args.filter((arg) => /^\d+(\.\d+)*$/.test(arg));
const named = args.filter((arg) => arg !== '--' && !versions.includes(arg));
const tests = SHARES[named[0]] ?? (named.length > 0 ? named : TESTS);
const current = process.versions.node.split('.')[0];
const wanted = versions.length > 0 ? versions : VERSIONS.filter((version) => version !== current);
const failed = wanted.filter((version) => {
  const isNewest = tests === TESTS && version === VERSIONS.at(-1);
  return !runTests(version, isNewest ? [...tests, ...NEWEST_ONLY] : tests);
});
// Once, with the packages that depend on the runtime.
const [first] = wanted;
if (tests === TESTS && first !== undefined) {
  const entry = installed('pg-boss', PG_BOSS, 'pg-boss/dist/index.js');
  if (!runTests(first, PG_BOSS_TESTS, { PG_BOSS_ENTRY: entry })) failed.push(PG_BOSS);
}
if (failed.length > 0) {
  console.error(`Tests failed on Node ${failed.join(' and ')}.`);
  process.exitCode = 1;
}
