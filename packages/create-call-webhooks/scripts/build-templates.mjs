// Builds the templates: as they are for TypeScript, and without their types for JavaScript.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as prettier from 'prettier';
import { blankSourceFile } from 'ts-blank-space';
import ts from 'typescript';

const SOURCE = fileURLToPath(new URL('../templates', import.meta.url));
const OF_TYPESCRIPT = /(?:^|[/\\])tsconfig(?:\.\w+)?\.json$/;
const OF_JAVASCRIPT = /(?:^|[/\\])jsconfig\.json$/;

/** @param {string} target gets a folder for each language */
async function buildTemplates(target) {
  rmSync(target, { recursive: true, force: true });
  const options = await prettier.resolveConfig(join(SOURCE, 'index.js'));
  cpSync(SOURCE, join(target, 'typescript'), {
    recursive: true,
    filter: (path) => !OF_JAVASCRIPT.test(path),
  });
  for (const entry of readdirSync(SOURCE, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || OF_TYPESCRIPT.test(path)) continue;
    const isCode = /\.tsx?$/.test(path);
    const name = relative(SOURCE, path).replace(/\.ts(x?)$/, '.js$1');
    const to = join(target, 'javascript', name);
    const text = readFileSync(path, 'utf8');
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(
      to,
      isCode ? await prettier.format(withoutTypes(text), { ...options, parser: 'babel' }) : text,
    );
  }
}

/** Removes the types, and the lines that have nothing else. */
function withoutTypes(text) {
  const before = text.split('\n');
  return blankSourceFile(
    ts.createSourceFile('a.tsx', text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX),
  )
    .split('\n')
    .filter((line, at) => line.trim() !== '' || before[at].trim() === '')
    .join('\n')
    .replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'");
}

await buildTemplates(
  process.argv[2] ?? fileURLToPath(new URL('../dist/templates', import.meta.url)),
);
