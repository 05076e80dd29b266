// Uses the published packages in a fresh folder: from ESM, from CJS, and with every supported TypeScript
// under every module resolution that it has. Each entry is found, and nothing turns into `any`.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './registry.mjs';

const FRAMEWORKS = [
  ...['express@5', 'fastify@5'],
  ...['next@16', 'react@19', 'react-dom@19'],
  ...['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@11`),
  ...['reflect-metadata', 'rxjs'],
];
/** Each TypeScript under a name of its own. */
const TYPESCRIPTS = ['5@~5.9.3', '6@~6.0.3', '7@^7.0.2'].map(
  (version) => `typescript${version.replace('@', '@npm:typescript@')}`,
);
const TYPES = ['node@20', 'express@5', 'better-sqlite3@9'].map((name) => `@types/${name}`);

const NODE10 = ['--module', 'commonjs', '--moduleResolution', 'node10'];
const MODERN = [
  ['--module', 'node16', '--moduleResolution', 'node16'],
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
];
/** TypeScript 6 deprecates node10, and 7 has dropped it. */
const RESOLUTIONS = {
  typescript5: [NODE10, ...MODERN],
  typescript6: [[...NODE10, '--ignoreDeprecations', '6.0'], ...MODERN],
  typescript7: MODERN,
};
const COMMON =
  '--noEmit --strict --skipLibCheck --esModuleInterop --target es2022 --types node'.split(' ');

/**
 * @param {string} folder must not exist yet
 * @param {string} npmrc where npm finds our packages
 * @param {string[]} names our packages
 * @returns a summary
 * @throws if something does not run or compile
 */
export async function checkConsumer(folder, npmrc, names) {
  cpSync(fileURLToPath(new URL('consumer', import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, '.npmrc'), npmrc);
  const needed = [...names, ...FRAMEWORKS, ...TYPESCRIPTS, ...TYPES];
  await run('npm', ['install', '--no-audit', '--no-fund', ...needed], { cwd: folder });
  for (const file of ['esm.mjs', 'cjs.cjs']) await run(process.execPath, [file], { cwd: folder });

  const compile = (compiler, ...args) => {
    const tsc = join(folder, 'node_modules', compiler, 'bin/tsc');
    return run(process.execPath, [tsc, ...COMMON, ...args], { cwd: folder });
  };
  const check = async ([compiler, resolutions]) => {
    const done = [];
    for (const resolution of resolutions) {
      const files = MODERN.includes(resolution) ? ['typed.ts', 'workers.mts'] : [];
      const what = `${compiler} ${resolution[3]}`;
      await compile(compiler, ...resolution, 'entries.ts', ...files).catch((error) => {
        throw new Error(`${what} does not compile:\n${error.stdout}`, { cause: error });
      });
      done.push(what);
    }
    const errors = await compile(compiler, ...MODERN[0], 'fastify-error.ts').then(
      () => ['nothing'],
      ({ stdout }) => stdout.split('\n').filter((line) => /error TS|overload/i.test(line)),
    );
    if (errors.length !== 1 || !errors[0].includes('calId'))
      throw new Error(
        `${compiler} reports an error in the options of Fastify as:\n${errors.join('\n')}`,
      );
    return done;
  };
  const done = await Promise.all(Object.entries(RESOLUTIONS).map(check));
  return `ESM and CJS run; types: ${done.flat().join(', ')}; an error in the options of Fastify is reported once`;
}
