// Checks the types of the packed packages with every supported TypeScript, under every module resolution
// that it has: each entry is found, and nothing turns into `any`.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** What the consumer installs: each TypeScript under a name of its own. */
export const TYPESCRIPTS = ['5@~5.9.3', '6@~6.0.3', '7@^7.0.2'].map(
  (version) => `typescript${version.replace('@', '@npm:typescript@')}`,
);

const NODE10 = ['--module', 'commonjs', '--moduleResolution', 'node10', '--esModuleInterop'];
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

/**
 * @param consumer a folder in which the packages and `TYPESCRIPTS` are installed
 * @returns a summary
 * @throws if one of them does not compile
 */
export function checkTypes(consumer) {
  const common = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2022',
    '--types',
    'node',
  ];
  const compile = (compiler, ...args) =>
    execFileSync(
      process.execPath,
      [
        join(consumer, 'node_modules', compiler, 'bin/tsc'),
        ...common,
        '--ignoreConfig',
        ...args,
      ].filter(
        (arg) => compiler !== 'typescript5' || arg !== '--ignoreConfig', // which only newer ones know
      ),
      { cwd: consumer, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
    );
  const done = [];
  for (const [compiler, resolutions] of Object.entries(RESOLUTIONS))
    for (const resolution of resolutions) {
      const what = `${compiler} ${resolution[3]}`;
      try {
        compile(compiler, ...resolution, 'entries.ts');
        if (MODERN.includes(resolution)) compile(compiler, ...resolution, 'workers.mts');
      } catch (error) {
        throw new Error(`${what} does not compile:\n${error.stdout}`, { cause: error });
      }
      done.push(what);
    }
  for (const compiler of Object.keys(RESOLUTIONS)) {
    const errors = reported(() => compile(compiler, ...MODERN[0], 'fastify-error.ts'));
    if (errors.length !== 1 || !errors[0].includes('calId'))
      throw new Error(
        `${compiler} reports an error in the options of Fastify as:\n${errors.join('\n')}`,
      );
  }
  return `types: ${done.join(', ')}; an error in the options of Fastify is reported once`;
}

/** The lines with which a failing compiler names errors. */
function reported(compile) {
  try {
    return [compile()];
  } catch (error) {
    return String(error.stdout)
      .split('\n')
      .filter((line) => /error TS|overload/i.test(line));
  }
}
