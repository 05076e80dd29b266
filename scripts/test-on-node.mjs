// Runs tests on other Node.js versions than the installed one. Their binaries come from npm's `node` package.
// `npm run test:node -- [versions] [test paths | --rest | --all]`. The default is Node 22 and 24, and the
// packages whose results depend on the runtime most: core, the stores and queues, and the simulator, each
// with its integration tests.
// `--rest` runs all other tests, those of the docs and examples too.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/node-versions');
const VERSIONS = ['22', '24'];
const TESTS = ['core', 'sqlite', 'redis', 'postgres', 'simulator'].map(
  (name) => `packages/${name}/`,
);
const SHARES = { '--all': [], '--rest': TESTS.map(ignored) };

/** Given once, it replaces the patterns of the configuration: integration tests run as well. */
function ignored(pattern) {
  return `--testPathIgnorePatterns=${pattern}`;
}

/** Installs a version in the cache, and returns the path of its binary. */
function nodeBinary(version) {
  const folder = join(CACHE, version);
  const binary = join(folder, 'node_modules/node/bin/node');
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    // The binary comes with an install script of the `node` package.
    const args = [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts=false',
      `node@${version}`,
    ];
    execFileSync('npm', args, { cwd: folder, stdio: 'inherit' });
  }
  return binary;
}

function runTests(version, tests) {
  const node = nodeBinary(version);
  const exact = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  console.log(`\n== Node ${exact}: ${tests.join(' ') || 'all tests'}`);
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const { status } = spawnSync(node, [...jest, ...tests, ignored('/node_modules/')], {
    cwd: ROOT,
    stdio: 'inherit',
    // Programs that a test starts have to run on this version, too.
    env: { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH },
  });
  return status === 0;
}

const args = process.argv.slice(2);
const versions = args.filter((arg) => /^\d+(\.\d+)*$/.test(arg));
const named = args.filter((arg) => arg !== '--' && !versions.includes(arg));
const tests = SHARES[named[0]] ?? (named.length > 0 ? named : TESTS);
const current = process.versions.node.split('.')[0];
const wanted = versions.length > 0 ? versions : VERSIONS.filter((version) => version !== current);
const failed = wanted.filter((version) => !runTests(version, tests));
if (failed.length > 0) {
  console.error(`Tests failed on Node ${failed.join(' and ')}.`);
  process.exitCode = 1;
}
