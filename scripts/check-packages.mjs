// Checks what users install: runs attw and publint on every public package, and uses the packed
// tarballs in a fresh folder from ESM, CJS and TypeScript. Run `npm run build` first.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkCli } from './check-cli.mjs';
import { checkTypes, TYPESCRIPTS } from './check-types.mjs';

// This repository refuses packages that do not support its Node version. A user's npm only warns.
delete process.env.npm_config_engine_strict;

const run = (command, args, options = {}) =>
  execFileSync(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    ...options,
  });

const packages = readdirSync('packages')
  .map((name) => ({
    folder: `packages/${name}`,
    ...JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')),
  }))
  .filter((manifest) => !manifest.private);

/** Whether only the sources of this repository can import it. */
const isOfSources = (target) => Object.keys(target).join() === '@call-webhooks/source';

const work = mkdtempSync(join(tmpdir(), 'call-webhooks-'));
try {
  const tarballs = packages.map(({ name, folder, exports }) => {
    console.log(`${name}: publint, attw`);
    console.log(run('npx', ['publint', 'run', '--strict', folder]));
    const [{ filename }] = JSON.parse(
      run('npm', ['pack', '--json', '--pack-destination', work, `./${folder}`]),
    );
    const tarball = join(work, filename.replace('@', '').replace('/', '-'));
    // A package with only a command exports nothing, so it has no types.
    if (exports) {
      const own = Object.keys(exports).filter((path) => isOfSources(exports[path]));
      const excluded = own.length > 0 ? ['--exclude-entrypoints', ...own] : [];
      // Workers are ES modules, so the package for them is as well.
      const profile = Object.values(exports)[0].require ? [] : ['--profile', 'esm-only'];
      console.log(run('npx', ['attw', tarball, ...excluded, ...profile]));
    }
    return tarball;
  });

  const consumer = join(work, 'consumer');
  cpSync('scripts/consumer', consumer, { recursive: true });
  const frameworks = ['express@5', 'fastify@5', 'next@16', 'react@19', 'react-dom@19'];
  const nest = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@11`);
  // The oldest TypeScript that is supported; this repository's own is the newer one.
  const types = ['node@20', 'express@5', 'better-sqlite3@9'].map((name) => `@types/${name}`);
  const tools = ['typescript@~5.9.3', ...types];
  run(
    'npm',
    [
      'install',
      '--no-audit',
      '--no-fund',
      ...tarballs,
      ...frameworks,
      ...nest,
      'reflect-metadata',
      'rxjs',
      ...tools,
      ...TYPESCRIPTS,
    ],
    {
      cwd: consumer,
    },
  );
  for (const file of ['esm.mjs', 'cjs.cjs'])
    console.log(run('node', [file], { cwd: consumer }).trim());
  for (const folder of [consumer, '.']) {
    const tsc = resolve(folder, 'node_modules/typescript/bin/tsc');
    run(process.execPath, [tsc, '-p', '.'], { cwd: consumer });
    console.log(run(process.execPath, [tsc, '--version']).trim(), 'compiles');
  }
  console.log(checkTypes(consumer));

  const needed = [
    ...['cli', 'inspector', 'simulator', 'recovery', 'client', 'core'],
    ...['redis', 'postgres', 'sqlite'],
  ];
  console.log(
    await checkCli(
      join(work, 'cli'),
      tarballs.filter((_tarball, at) => needed.includes(packages[at].name.split('/')[1])),
    ),
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}
