import { join } from 'node:path';
import { publicPackages, ROOT } from './repository.ts';

/** What users import, such as `core/web`, and its file. */
export interface EntryPoint {
  readonly name: string;
  /** The description of its package. */
  readonly description: string;
  readonly file: string;
}

/** Everything that users can import from the public packages: all but what is for these packages alone. */
export const entryPoints = (): EntryPoint[] =>
  publicPackages()
    // Core first: what adapters export again is described where it comes from.
    .sort((a, b) => Number(b.folder === 'core') - Number(a.folder === 'core'))
    .flatMap(({ folder, description, exports = {} }) =>
      Object.entries(exports).flatMap(([path, target]) => {
        const source = typeof target === 'object' ? target['@call-webhooks/source'] : undefined;
        if (source === undefined || path === './internal') return [];
        const name = join(folder, path);
        return [{ name, description, file: join(ROOT, 'packages', folder, source) }];
      }),
    );
