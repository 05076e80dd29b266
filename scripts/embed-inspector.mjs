// The inspector's page is written in TypeScript, CSS and HTML under its `browser` folder. This takes
// the types away and puts every file as a text into one module, so that plain `tsc` carries the page
// into both builds. `--check` changes nothing and fails if the module is not up to date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const folder = fileURLToPath(new URL('../packages/simulator/src/inspector/', import.meta.url));
const target = join(folder, 'assets.generated.ts');

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
};

function plainScript(text, fileName) {
  const { outputText, diagnostics } = ts.transpileModule(text, {
    fileName,
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
      removeComments: true,
    },
  });
  if (diagnostics?.length) throw new Error(`${fileName}: ${diagnostics[0].messageText}`);
  return outputText;
}

function assets() {
  const files = readdirSync(join(folder, 'browser'), { recursive: true })
    .map((name) => name.split('\\').join(posix.sep))
    .filter((name) => name.endsWith('.ts') || extname(name) in TYPES)
    .sort();
  const scripts = files.filter((name) => name.endsWith('.ts')).map((name) => asScript(name));
  return files.map((name) => {
    const text = readFileSync(join(folder, 'browser', name), 'utf8');
    if (name.endsWith('.ts')) return [asScript(name), '.js', plainScript(text, name)];
    return [name, extname(name), name === 'index.html' ? withPreloads(text, scripts) : text];
  });
}

const asScript = (name) => name.replace(/\.ts$/, '.js');

/** All modules are asked for at once, rather than one import after another. */
function withPreloads(html, scripts) {
  const links = scripts.map((name) => `<link rel="modulepreload" href="/_inspector/${name}" />`);
  return html.replace('<!-- modulepreload -->', links.join('\n    '));
}

const lines = assets().map(([name, type, text]) => {
  const asset = `{ type: ${JSON.stringify(TYPES[type])}, text: ${JSON.stringify(text)} }`;
  return `  [${JSON.stringify(name)}, ${asset}],`;
});
const made = `// Made by scripts/embed-inspector.mjs from the files in ./browser. Do not edit: npm run inspector
export const ASSETS: ReadonlyMap<string, { readonly type: string; readonly text: string }> = new Map([
${lines.join('\n')}
]);
`;

if (!process.argv.includes('--check')) writeFileSync(target, made);
else if (readFileSync(target, 'utf8') !== made) {
  console.error('The inspector has changed since it was embedded. Run: npm run inspector');
  process.exit(1);
}
