// Bundles the pages of the inspector and the console from their sources. Names contain a hash of the content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const packages = fileURLToPath(new URL('../packages/', import.meta.url));
/** The pages, and the folder that their files other than index.html are in. */
export const PAGES = { simulator: '', console: 'assets/' };

export const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
};

/** The licence of Preact asks for this line in each copy. */
const NOTICE = '/*! Includes Preact, MIT License, Copyright (c) 2015-present Jason Miller */';

/** app.js and app.css of a page. */
async function bundle(folder) {
  const { outputFiles } = await build({
    entryPoints: { app: join(folder, 'main.tsx') },
    absWorkingDir: packages,
    outdir: 'app',
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome120', 'firefox121', 'safari17.5'],
    conditions: ['@call-webhooks/source'],
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: NOTICE },
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  return outputFiles.map(({ path, text }) => [`app${extname(path)}`, text]);
}

function hashed(name, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 10);
  return name.replace(/\.\w+$/, `-${hash}$&`);
}

/**
 * The files of a page, by name, as its sources are now. index.html names the others by their hashed names.
 * @param page `console` or `simulator`
 */
export async function filesOf(page) {
  const folder = join(packages, page, 'page');
  const below = PAGES[page];
  const icon = ['icon.svg', readFileSync(join(folder, 'icon.svg'), 'utf8')];
  const assets = [...(await bundle(folder)), icon].map(([name, text]) => ({
    name,
    as: hashed(name, text),
    text,
  }));
  let html = readFileSync(join(folder, 'index.html'), 'utf8');
  for (const { name, as } of assets) {
    if (!html.includes(name)) throw new Error(`${folder}/index.html does not name ${name}.`);
    html = html.replaceAll(name, as);
  }
  return [['index.html', html], ...assets.map(({ as, text }) => [`${below}${as}`, text])];
}
