import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import ts from 'typescript';

const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url));
const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  allowImportingTsExtensions: true,
  noEmit: true,
  types: [],
};
const program = ts.createProgram([entry], options);
const checker = program.getTypeChecker();

interface Documented {
  readonly name: string;
  readonly text: string;
}

function textOf(symbol: ts.Symbol): string {
  const tags = symbol.getJsDocTags(checker).map(({ name, text }) => {
    return `@${name} ${ts.displayPartsToString(text)}`;
  });
  return [ts.displayPartsToString(symbol.getDocumentationComment(checker)), ...tags].join('\n');
}

function resolved(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

const symbols = checker
  .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!)
  .map(resolved);

/** Functions, and the methods of interfaces and classes, as far as they are ours. */
const callables = symbols.flatMap((symbol): Documented[] => {
  if (symbol.flags & ts.SymbolFlags.Function) return [{ name: symbol.name, text: textOf(symbol) }];
  const members = [...(symbol.members?.values() ?? [])];
  return members
    .filter(({ flags }) => flags & ts.SymbolFlags.Method)
    .map((member) => ({ name: `${symbol.name}.${member.name}`, text: textOf(member) }));
});

test('everything that is exported has a docstring', () => {
  const bare = symbols.filter((symbol) => textOf(symbol).trim() === '').map(({ name }) => name);
  expect(symbols.length).toBeGreaterThan(50);
  expect(bare).toEqual([]);
});

test('every function says which errors it throws', () => {
  expect(callables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['createClient', 'Events.list', 'Recording.saveTo', 'Rules.rotateInto']),
  );
  // Asked of the user: a store's and a clock's errors are the user's own.
  const theirs = /^(?:Clock|SecretStore)\./;
  const silent = callables
    .filter(
      ({ name, text }) => !theirs.test(name) && !/@throws|never throws|rejects with/i.test(text),
    )
    .map(({ name }) => name);
  expect(silent).toEqual([]);
});
