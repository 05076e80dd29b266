import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import js from '@eslint/js';
import { ESLint } from 'eslint';
import * as prettier from 'prettier';
import ts from 'typescript';
import tseslint from 'typescript-eslint';

/** The files of an app, without what was installed and built. */
export const filesOf = (app: string): string[] =>
  readdirSync(app, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !/[/\\](?:node_modules|dist|\.next)[/\\]/.test(file.slice(app.length)));

/** Checks that Prettier would change nothing, under the settings of this repository. */
export async function checkFormat(app: string): Promise<void> {
  for (const file of filesOf(app)) {
    const { inferredParser } = await prettier.getFileInfo(file);
    if (inferredParser === null) continue;
    const settings = await prettier.resolveConfig('index.js');
    const options = { ...settings, filepath: file };
    const text = readFileSync(file, 'utf8');
    const formatted = await prettier.format(text, options);
    if (formatted !== text)
      throw new Error(`${file} is not formatted. It should be:\n${formatted}`);
  }
}

// Libraries are parsed once for all apps.
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Compiles an app under one of its own configurations. @throws with the errors */
export function compile(app: string, configuration: string): void {
  const path = join(app, configuration);
  const { config } = ts.readConfigFile(path, (file) => ts.sys.readFile(file)) as { config: object };
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, app);
  // What is built was checked before, with the tests.
  Object.assign(options, { incremental: false, noCheck: options.noEmit !== true });
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (file, language, ...rest) => {
    if (!file.includes('node_modules')) return parse(file, language, ...rest);
    const format = typeof language === 'object' ? language.impliedNodeFormat : undefined;
    const key = `${file} ${String(format)} ${String(options.target)}`;
    if (!parsed.has(key)) parsed.set(key, parse(file, language, ...rest));
    return parsed.get(key);
  };
  const program = ts.createProgram(fileNames, options, host);
  const problems = [...errors, ...ts.getPreEmitDiagnostics(program)];
  if (options.noEmit !== true) problems.push(...program.emit().diagnostics);
  if (problems.length > 0)
    throw new Error(
      ts.formatDiagnostics(problems, {
        getCanonicalFileName: (file) => file,
        getCurrentDirectory: () => app,
        getNewLine: () => '\n',
      }),
    );
}

/** Lints apps with the rules of this repository. The same file is linted once for each framework. */
export async function lint(folder: string, apps: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  const files = apps.flatMap((app) =>
    filesOf(app).filter((file) => {
      const framework = app.split(sep).at(-1)?.split('-')[0] ?? '';
      const key = `${framework} ${file.slice(app.length)} ${readFileSync(file, 'utf8')}`;
      const isNew = /\.[jt]sx?$/.test(file) && !seen.has(key);
      seen.add(key);
      return isNew;
    }),
  );
  const eslint = new ESLint({
    cwd: folder,
    overrideConfigFile: true,
    overrideConfig: [
      js.configs.recommended,
      {
        files: ['**/*.{js,jsx}'],
        languageOptions: {
          globals: Object.fromEntries(
            ['process', 'console', 'setTimeout', 'Response'].map((name) => [name, 'readonly']),
          ),
          parserOptions: { ecmaFeatures: { jsx: true } },
        },
      },
      ...tseslint.configs.strictTypeChecked.map((config) => ({
        ...config,
        files: ['**/*.{ts,tsx}'],
      })),
      {
        files: ['**/*.{ts,tsx}'],
        languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: folder } },
        rules: {
          '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
          '@typescript-eslint/no-confusing-void-expression': [
            'error',
            { ignoreArrowShorthand: true },
          ],
          // The runner waits for its tests.
          '@typescript-eslint/no-floating-promises': [
            'error',
            { allowForKnownSafeCalls: [{ from: 'package', name: ['test'], package: 'node:test' }] },
          ],
        },
      },
    ] as ESLint.Options['overrideConfig'] & {},
  });
  const results = await eslint.lintFiles(files);
  const text = await (await eslint.loadFormatter('stylish')).format(results);
  if (results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0))
    throw new Error(text);
  if (results.length !== files.length || !files.every((file) => existsSync(file)))
    throw new Error('Not every file was linted.');
}
