import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';

// A library of somebody else that wraps everything that our packages export, and is compiled with
// `declaration: true`. It is made of the exports, so what is exported tomorrow is in it as well.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The public entries of the published packages, such as `@call-webhooks/core/stores`. */
const entries = readdirSync(`${ROOT}packages`).flatMap((folder) => {
  const text = readFileSync(`${ROOT}packages/${folder}/package.json`, 'utf8');
  const { name, private: isPrivate, exports = {} } = JSON.parse(text) as PackageJson;
  if (isPrivate) return [];
  return Object.keys(exports)
    .filter((path) => !/\.json$|^\.\/internal$/.test(path))
    .map((path) => name + path.slice(1));
});

interface PackageJson {
  name: string;
  private?: boolean;
  exports?: Record<string, unknown>;
}

const LIBRARY = `${ROOT}docs/test/library-of-a-user.ts`;

/** Makes the members of a type visible in declarations, and the parameters of a function. */
const EXPAND = `
type Expand<T> = T extends (...args: infer Args) => infer Result
  ? { args: Members<Args>; result: Result extends object ? Members<Result> : Result }
  : Members<T>;
type Members<T> = { [Name in keyof T]: T[Name] };
declare function expand<T>(): Expand<T>;
`;

function compile(source: string) {
  const { options, errors } = ts.parseJsonConfigFileContent(
    { extends: './tsconfig.test.json', files: [], include: [] },
    ts.sys,
    ROOT,
  );
  expect(errors.filter(({ code }) => code !== 18_002 && code !== 18_003)).toEqual([]);
  const settings: ts.CompilerOptions = {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    allowImportingTsExtensions: false,
    noUnusedLocals: false,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(settings);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (file, ...rest) =>
    file === LIBRARY ? ts.createSourceFile(file, source, rest[0], true) : read(file, ...rest);
  const exists = host.fileExists.bind(host);
  host.fileExists = (file) => file === LIBRARY || exists(file);
  return ts.createProgram([LIBRARY], settings, host);
}

/** What wraps each export of an entry. */
function wrappers(program: ts.Program): string[] {
  const checker = program.getTypeChecker();
  const library = program.getSourceFile(LIBRARY) as ts.SourceFile;
  return library.statements.filter(ts.isImportDeclaration).flatMap((statement, entry) => {
    const module = checker.getSymbolAtLocation(statement.moduleSpecifier) as ts.Symbol;
    return checker.getExportsOfModule(module).flatMap((exported) => {
      const symbol =
        exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const name = `m${String(entry)}.${exported.name}`;
      const constant = (kind: string, type: string) =>
        `export const ${kind}_${String(entry)}_${exported.name} = expand<${type}>();`;
      const lines: string[] = [];
      const isTypeOnly = exported.declarations?.some(isTypeExport) ?? false;
      if (isTypeOnly) {
        // Users get it, and do not create it.
      } else if (symbol.flags & ts.SymbolFlags.Class)
        lines.push(constant('made', `ConstructorParameters<typeof ${name}>`));
      else if (symbol.flags & ts.SymbolFlags.Value) lines.push(constant('value', `typeof ${name}`));
      if (symbol.flags & ts.SymbolFlags.Type) {
        const parameters = parametersOf(symbol);
        const given = parameters.some((one) => !one.default)
          ? `<${parameters.map(() => 'any').join(', ')}>`
          : '';
        lines.push(constant('type', name + given));
      }
      return lines;
    });
  });
}

/** `export type { Name }` or `export { type Name }`. */
const isTypeExport = (declaration: ts.Declaration): boolean =>
  ts.isExportSpecifier(declaration) &&
  (declaration.isTypeOnly || declaration.parent.parent.isTypeOnly);

const parametersOf = (symbol: ts.Symbol): readonly ts.TypeParameterDeclaration[] =>
  (symbol.declarations ?? []).flatMap((declaration) =>
    ts.isInterfaceDeclaration(declaration) ||
    ts.isTypeAliasDeclaration(declaration) ||
    ts.isClassDeclaration(declaration)
      ? (declaration.typeParameters ?? [])
      : [],
  );

describe('a library that wraps everything we export', () => {
  let problems: string[];
  let declarations = '';

  beforeAll(() => {
    const imports = entries.map((entry, at) => `import type * as m${String(at)} from '${entry}';`);
    const lines = wrappers(compile(imports.join('\n')));
    expect(lines.length).toBeGreaterThan(500);
    const program = compile([...imports, EXPAND, ...lines].join('\n'));
    const library = program.getSourceFile(LIBRARY) as ts.SourceFile;
    const { diagnostics } = program.emit(library, (_file, text) => {
      declarations = text;
    });
    const found = [...program.getSemanticDiagnostics(library), ...diagnostics];
    problems = found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  }, 120_000);

  it('compiles with declarations', () => {
    expect(problems).toEqual([]);
  });

  it('names no type that users cannot import', () => {
    const named = declarations.matchAll(/import\("([^"]+)"\)\.(\w+)/g);
    const hidden = [...named]
      .filter(([, module = '']) => /call-webhooks|^\./.test(module) && !entries.includes(module))
      .map(([, module, name]) => `${String(name)} of ${String(module)}`);
    expect([...new Set(hidden)]).toEqual([]);
    expect(declarations.length).toBeGreaterThan(10_000);
  });
});
