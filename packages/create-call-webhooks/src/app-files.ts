import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { commandOf, LABELS, type Choices } from './choices.ts';
import { manifestOf } from './manifest.ts';
import { render } from './template.ts';

/** Files that have another name here: npm does not publish a `.gitignore`, and `.env` is a secret. */
const NAMES: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'env.example': '.env.example',
};
const STORE_VARIABLES = {
  memory: '',
  sqlite: 'SQLITE_FILE',
  postgres: 'DATABASE_URL',
  redis: 'REDIS_URL',
};

/**
 * The files of an app, by path.
 * @param templates the folder of the built templates, with a folder for each language
 */
export function appFiles(choices: Choices, templates: string): Map<string, string> {
  const { framework, store, language, packageManager, name } = choices;
  const host = framework === 'next' ? 'next' : 'node';
  const values = {
    conditions: new Set([framework, store, language, host]),
    texts: {
      name,
      framework: LABELS[framework],
      store: LABELS[store],
      storeVariable: STORE_VARIABLES[store],
      ext: language === 'typescript' ? 'ts' : 'js',
    },
  };
  const files = new Map([['package.json', manifestOf(choices)]]);
  for (const part of ['every-app', `${host}-app`, framework, store, `${framework}-${store}`])
    for (const [path, template] of filesIn(join(templates, language, part)))
      files.set(
        NAMES[path] ?? path,
        render(template, values).replaceAll(
          '@call-webhooks/adapter',
          `@call-webhooks/${framework}`,
        ),
      );

  const readme = files.get('README.md') ?? '';
  files.set(
    'README.md',
    readme.replace(/npm (?:run \w+|\w+)/g, (command) => commandOf(packageManager, command)),
  );
  const example = files.get('.env.example') ?? '';
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  files.set('.env', example.replace(/^CALL_WEBHOOK_SECRET=.*$/m, `CALL_WEBHOOK_SECRET=${secret}`));
  return files;
}

function* filesIn(folder: string): Generator<[path: string, content: string]> {
  if (!existsSync(folder)) return;
  for (const path of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue;
    const full = join(path.parentPath, path.name);
    yield [full.slice(folder.length + 1).replaceAll(sep, '/'), readFileSync(full, 'utf8')];
  }
}
