import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { describe, afterEach, beforeEach, expect, test } from '@jest/globals';
import ts from 'typescript';
import * as main from '../src/index.ts';
import { defaultWireNames } from '../src/options.ts';
import { TOKEN } from './support/client.ts';
import { sendJson, startServer, type TestServer } from './support/server.ts';

describe('the docstrings', () => {
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
    if (symbol.flags & ts.SymbolFlags.Function)
      return [{ name: symbol.name, text: textOf(symbol) }];
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
      expect.arrayContaining([
        'createClient',
        'Events.list',
        'Recording.saveTo',
        'Rules.rotateInto',
      ]),
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
});

describe('the README', () => {
  let server: TestServer;
  let folder: string;
  let readme: string;

  beforeEach(async () => {
    readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    folder = await mkdtemp(join(tmpdir(), 'readme-'));
    server = await startServer(({ url }, response) => {
      if (url.includes('/recording')) return void response.end('sound');
      const event = {
        action: 'opened',
        recipientEmail: 'ann@example.com',
        device: { os: 'Linux' },
      };
      sendJson(response, { results: [event], hasNext: false });
    });
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  test('the sample has ten to fifteen lines, and runs', async () => {
    const sample = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? '';
    const lines = sample.split('\n').filter((line) => line !== '');
    expect(lines.length).toBeGreaterThanOrEqual(10);
    expect(lines.length).toBeLessThanOrEqual(15);
    const body = ts
      .transpile(sample, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext })
      .replace(/import (\{.*\}) from '@call-webhooks\/client';/, 'const $1 = main;')
      .replace("'call.audio'", 'file');
    const printed: unknown[][] = [];
    const names = ['main', 'process', 'console', 'file'];
    const code = `return (async () => {${body}})()`;
    const run = compileFunction(code, names) as unknown as (...values: unknown[]) => Promise<void>;
    const env = { SERVICE_URL: server.origin, API_TOKEN: TOKEN };
    const log = (...values: unknown[]): void => void printed.push(values);
    await run(main, { env }, { log }, join(folder, 'call.audio'));
    expect(printed).toEqual([['ann@example.com', 'Linux']]);
    expect(await readFile(join(folder, 'call.audio'), 'utf8')).toBe('sound');
    expect(server.requests.map(({ url }) => decodeURIComponent(url))).toEqual([
      '/v1/events?search=to:example.com+since:2026-01-31+type:opened',
      '/v1/calls/call-id/recording',
    ]);
  });

  test('names every error class and every unconfirmed name', () => {
    for (const name of Object.keys(main).filter((key) => /.Error$/.test(key))) {
      expect(readme).toContain(`\`${name}\``);
    }
    for (const name of Object.keys(defaultWireNames)) expect(readme).toContain(`\`${name}\``);
  });
});
