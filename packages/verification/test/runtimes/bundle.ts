import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const SOURCES = fileURLToPath(new URL('programs', import.meta.url));

/** In an ES module, `require` of a Node module has to become an import. */
const requiredNodeModules: Plugin = {
  name: 'required-node-modules',
  setup({ onResolve, onLoad }) {
    const builtin = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`);
    onResolve({ filter: builtin }, ({ path, kind }) =>
      kind === 'require-call'
        ? { path: path.replace('node:', ''), namespace: 'required' }
        : { path: `node:${path.replace('node:', '')}`, external: true },
    );
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `import * as all from 'node:${path}'; module.exports = all.default ?? all;`,
      loader: 'js',
    }));
  },
};

/**
 * Bundles a program of `programs` from the sources, as a user's bundler would from the packages.
 * @param conditions what the runtime selects exports with
 */
export async function bundle(
  name: string,
  folder: string,
  conditions: readonly string[],
): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(SOURCES, `${name}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    conditions: ['@call-webhooks/source', ...conditions],
    external: ['node:*', 'bun:*', 'cloudflare:*'],
    plugins: [requiredNodeModules],
    logLevel: 'silent',
  });
  return outfile;
}
