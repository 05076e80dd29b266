import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { docsUrl } from '@call-webhooks/core';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The text of a file, by its path from the root of the repository. */
export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const manifest = JSON.parse(read('packages/core/package.json')) as { repository: { url: string } };

/** The repository's address on the web. */
export const REPOSITORY = manifest.repository.url.replace(/^git\+|\.git$/g, '');

/** The site's address, which core's log lines link to. It ends with a slash. */
export const SITE = docsUrl('');

/** Where the pages are written before VitePress builds them. */
export const PAGES_FOLDER = join(ROOT, 'packages/site/.pages');

/** Where the built site is. */
export const SITE_FOLDER = join(ROOT, 'packages/site/dist');
