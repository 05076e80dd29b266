import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, OptionDefaults, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { apiIndex, improve, mendAnchors } from './api-pages.ts';
import { entryPoints } from './entry-points.ts';
import { PAGES_FOLDER, ROOT } from './repository.ts';

const FOLDER = join(PAGES_FOLDER, 'api');

const OPTIONS: Partial<TypeDocOptions & PluginOptions> = {
  tsconfig: join(ROOT, 'site/tsconfig.api.json'),
  plugin: ['typedoc-plugin-markdown'],
  outputs: [{ name: 'markdown', path: FOLDER }],
  router: 'module',
  entryFileName: 'index',
  readme: 'none',
  groupOrder: ['Functions', 'Variables', 'Classes', 'Interfaces', 'Type Aliases', '*'],
  blockTags: [...OptionDefaults.blockTags, '@guess'],
  excludeExternals: true,
  excludePrivate: true,
  excludeInternal: true,
  disableGit: true,
  basePath: ROOT,
  logLevel: 'Warn',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  sanitizeComments: true,
  useHTMLEncodedBrackets: true,
};

/** Writes the API reference as Markdown pages, made from the docstrings. */
export async function writeApiReference(): Promise<void> {
  const points = entryPoints();
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    entryPoints: points.map(({ file }) => file),
  });
  const found = app.getEntryPoints();
  if (!found) throw new Error('TypeDoc found no entry points.');
  const named = found.map((point) => {
    const entry = points.find(({ file }) => file === point.sourceFile.fileName);
    return { ...point, displayName: entry?.name ?? point.displayName };
  });
  await app.generateOutputs(app.converter.convert(named));
  if (app.logger.hasErrors()) throw new Error('TypeDoc failed: see above.');
  const fileOf = (name: string) => join(FOLDER, `${name}.md`);
  const pages = points.map(
    ({ name }) => [name, improve(readFileSync(fileOf(name), 'utf8'), name)] as const,
  );
  for (const [name, page] of mendAnchors(new Map(pages))) writeFileSync(fileOf(name), page);
  writeFileSync(join(FOLDER, 'index.md'), apiIndex(points));
}
