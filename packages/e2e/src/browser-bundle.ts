import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

/** The client, bundled for browsers. */
export interface Bundle {
  /** The files that a page loads at once or later, by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly metafile: Metafile;
}

/**
 * Bundles the client's main entry for browsers, from its sources.
 *
 * @param conditions more export conditions
 * @throws esbuild's error, for example when a Node built-in is imported
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
