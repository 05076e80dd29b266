import { join } from 'node:path';
import { read, ROOT } from './repository.ts';
import { publicPackages } from './sections.ts';

/** What users import, such as `core/web`, and its file. */
export interface EntryPoint {
  readonly name: string;
  /** The description of its package. */
  readonly description: string;
  readonly file: string;
}

interface Manifest {
  readonly description: string;
  readonly exports?: Record<string, string | Record<string, string>>;
}

/** Everything that users can import from the public packages. */
export const entryPoints = (): EntryPoint[] =>
  // Core first: what adapters export again is described where it comes from.
  ['core', ...publicPackages().filter((name) => name !== 'core')].flatMap((folder) => {
    const manifest = JSON.parse(read(`packages/${folder}/package.json`)) as Manifest;
    return Object.entries(manifest.exports ?? {}).flatMap(([path, target]) => {
      const source = typeof target === 'object' ? target['@call-webhooks/source'] : undefined;
      const isOfSources = Object.keys(target).length === 1;
      if (source === undefined || isOfSources) return [];
      const { description } = manifest;
      return [
        { name: join(folder, path), description, file: join(ROOT, 'packages', folder, source) },
      ];
    });
  });
