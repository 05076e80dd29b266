// Runs the tests of adapters and stores with the newest published versions of what users bring: of everything
// that our packages have as a peer. `npm run test:newest -- [test paths]`. This happens in a copy of the
// repository, which keeps the versions of its lock file. A version beyond a peer range is named and tested all
// the same: what fails is why the range can't be raised yet. Of Next, which nightly tests build apps with, only
// the newest version is named.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment } from './install.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Some of the newest versions do not run on the oldest Node that we support. */
const NODE = '26';
const ADAPTERS = ['adapters', 'express', 'fastify', 'nest', 'opentelemetry'];
const STORES = ['mysql', 'postgres', 'redis', 'sqlite'];
const ONLY_NAMED = ['next'];
/** The clients that a store takes without naming them as peers, since its users choose one of several. */
const CLIENTS = {
  postgres: { pg: '^8.0.0', postgres: '^3.0.0' },
  sqlite: { 'better-sqlite3': '>=11.0.0', libsql: '>=0.4.0' },
};

const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-newest-'));
const npm = (...args) =>
  execFileSync('npm', args, {
    ...{ cwd: folder, env: environment(), encoding: 'utf8' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
/** The versions of a package that match, as npm knows them. */
const published = (spec) => [JSON.parse(npm('view', spec, 'version', '--json') || '[]')].flat();

/** Lets a package of ours depend on the newest of each peer. @returns a line for each */
function raisePeers(name) {
  const path = join(folder, 'packages', name, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const lines = [];
  for (const [peer, range] of Object.entries({ ...manifest.peerDependencies, ...CLIENTS[name] })) {
    if (peer.startsWith('@call-webhooks/')) continue;
    const [newest] = published(peer);
    const isInRange = published(`${peer}@${range}`).includes(newest);
    manifest.devDependencies = { ...manifest.devDependencies, [peer]: newest };
    lines.push(`${name}: ${peer} ${newest}${isInRange ? '' : `, BEYOND the peer range ${range}`}`);
  }
  // What a framework is made of has its version.
  for (const one of Object.keys(manifest.devDependencies ?? {}))
    if (one.startsWith('@nestjs/')) manifest.devDependencies[one] = published(one)[0];
  writeFileSync(path, JSON.stringify(manifest));
  return lines;
}

try {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of files.split('\0'))
    if (file !== '' && existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(folder, file));
  const packages = [...ADAPTERS, ...STORES];
  const lines = packages.flatMap(raisePeers);
  npm('install', '--no-audit', '--no-fund', '--engine-strict=false', '--legacy-peer-deps');
  lines.push(...ONLY_NAMED.flatMap(raisePeers));
  const versions = 'node_modules/.cache/node-versions';
  if (existsSync(join(ROOT, versions)))
    cpSync(join(ROOT, versions), join(folder, versions), {
      recursive: true,
      verbatimSymlinks: true,
    });
  console.log(`The newest versions:\n${lines.join('\n')}`);
  const given = process.argv.slice(2);
  const tests = packages.map((name) => `packages/${name}/`);
  const args = ['scripts/test-on-node.mjs', NODE, ...(given.length > 0 ? given : tests)];
  const { status } = spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
