// Packs every published package as npm would publish it, so that another project can install them. Build first.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2] ?? join(ROOT, 'tarballs'));
mkdirSync(folder, { recursive: true });

const isPublished = (name) =>
  JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8')).private !== true;
const packages = readdirSync(join(ROOT, 'packages'))
  .filter(isPublished)
  .map((name) => `./packages/${name}`);
const args = ['pack', '--silent', '--pack-destination', folder, ...packages];
process.stdout.write(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' }));
console.log(`
Install all of them in your project, because they depend on each other:

  npm install ${join(folder, '*.tgz')} express`);
