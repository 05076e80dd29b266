import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { docsUrl } from '@call-webhooks/core/internal';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The text of a file, by its path from the root of the repository. */
export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly private?: boolean;
  readonly repository: { readonly url: string };
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/** What users can install, by the names of the folders. */
export const publicPackages = (): (Manifest & { readonly folder: string })[] =>
  readdirSync(join(ROOT, 'packages'))
    .filter((folder) => existsSync(join(ROOT, 'packages', folder, 'package.json')))
    .map((folder) => ({
      ...(JSON.parse(read(`packages/${folder}/package.json`)) as Manifest),
      folder,
    }))
    .filter((manifest) => manifest.private !== true);

/** The repository's address on the web. */
export const REPOSITORY = (
  JSON.parse(read('packages/core/package.json')) as Manifest
).repository.url.replace(/^git\+|\.git$/g, '');

/** The site's address, which core's log lines link to. It ends with a slash. */
export const SITE = docsUrl('');

/** Where the pages are written before VitePress builds them. */
export const PAGES_FOLDER = join(ROOT, 'site/.pages');

/** Where the built site is. */
export const SITE_FOLDER = join(ROOT, 'site/dist');
