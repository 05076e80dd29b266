import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

/** What a bundler for browsers makes of the client. */
export interface Bundle {
  /** The files that a page loads at once and those that it may load later, by their names. */
  readonly files: ReadonlyMap<string, string>;
  readonly metafile: Metafile;
}

/**
 * Bundles the main entry of the client as a browser gets it, from its sources.
 *
 * @param conditions export conditions besides that of the sources
 * @throws what esbuild throws, for an import of a Node built-in for instance
 */
export async function bundleClient(conditions: readonly string[] = ['browser']): Promise<Bundle> {
  const result = await build({
    absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
    stdin: {
      contents: `export * from '@call-webhooks/client';`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      sourcefile: 'client.js',
    },
    entryNames: 'client',
    outdir: 'out',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@call-webhooks/source', ...conditions],
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const files = result.outputFiles.map(
    ({ path, text }) => [path.split(/[\\/]/).at(-1) ?? path, text] as const,
  );
  return { files: new Map(files), metafile: result.metafile };
}
