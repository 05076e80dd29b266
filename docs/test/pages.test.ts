import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it, test } from '@jest/globals';
import type { Command } from 'commander';
import { OUTCOMES } from '@call-webhooks/core';
import { THROWN_ERRORS } from '@call-webhooks/core/internal';
import { App } from '../../packages/cli/src/app.ts';
import { program } from '../../packages/cli/src/program.ts';
import { anchorOf } from '../../site/src/anchor.ts';
import { REPOSITORY } from '../../site/src/repository.ts';
import { documents, filesIn, read, ROOT } from './files.ts';

describe('links', () => {
  /** A document without its programs: what looks like a link in them is none. */
  const textOf = (name: string) => read(name).replace(/^```.*?^```/gms, '');

  /** A heading as its reader sees it. */
  const plain = (heading: string) => heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

  const anchorsOf = (name: string) => [
    'readme', // of a folder that is shown
    ...[...textOf(name).matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading = '']) =>
      anchorOf(plain(heading)),
    ),
  ];

  /** Links within this repository. READMEs that npm shows have them with its address. */
  const linksOf = (name: string) =>
    [...textOf(name).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
      .map(([, link, attribute]) => link ?? attribute ?? '')
      .map((link) => link.replace(`${REPOSITORY}/blob/main`, relative(dirname(name), '.') || '.'))
      // The build of the site checks links from its root.
      .filter((link) => !/^(?:[a-z]+:|\/)/.test(link));

  function isBroken(document: string, link: string): boolean {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document : normalize(join(dirname(document), path));
    if (!existsSync(join(ROOT, target))) return true;
    if (anchor === undefined) return false;
    const folder = statSync(join(ROOT, target)).isDirectory();
    return !anchorsOf(folder ? join(target, 'README.md') : target).includes(anchor);
  }

  test('every link of the docs within the repository leads to a file, and to a heading in it', () => {
    const links = documents().flatMap((name) => linksOf(name).map((link) => ({ name, link })));
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter(({ name, link }) => isBroken(name, link))).toEqual([]);
  });

  /** Sources of the packages that users install, without comments. */
  const sources = () =>
    readdirSync(join(ROOT, 'packages'), { recursive: true, encoding: 'utf8' })
      .filter((name) =>
        /^(?!contract-tests|store-tests|verification)[\w-]+\/src\/.*\.ts$/.test(name),
      )
      .map((name) => ({
        name,
        text: read(join('packages', name)).replace(/^\s*(?:\/?\*|\/\/).*$/gm, ''),
      }));

  test('every link of a log line or an error leads to a page of the docs, and to a heading in it', () => {
    const codes = [...Object.keys(OUTCOMES), ...Object.keys(THROWN_ERRORS)];
    const pages = sources().flatMap(({ text }) =>
      [...text.matchAll(/docsUrl\(\s*['`]([^'`]+)['`]/g)].flatMap(([, page = '']) =>
        page.includes('${') ? codes.map((code) => page.replace(/\$\{\w+\}/, code)) : [page],
      ),
    );
    expect(new Set(pages).size).toBeGreaterThan(codes.length);
    expect(pages.filter((page) => isBroken('docs/README.md', page))).toEqual([]);
  });
});

/** The commands of the command line that pages show, without the variables before them. */
const shown = filesIn('packages', '.tsx').flatMap((file) =>
  [...read(file).matchAll(/<code>([^<]*)npx call-webhooks\s([^<]*)<\/code>/g)].map(
    ([, variables = '', command = '']) => ({
      file,
      variables: variables.trim(),
      argv: command.trim().split(/\s+/),
    }),
  ),
);

/** The commands of a program, and those within them. */
const withinOf = (command: Command): Command[] =>
  command.commands.flatMap((one) => [one, ...withinOf(one)]);

/** Parses a command as the program does, and runs nothing. @throws CommanderError */
async function parse(argv: readonly string[]): Promise<void> {
  const root = await program(new App({ stdout: {}, stderr: {}, env: {} } as never), argv);
  for (const command of withinOf(root)) command.action(() => undefined);
  await root.parseAsync([...argv], { from: 'user' });
}

/** The commands of the command line in the shell blocks of documents. */
const documented = documents().flatMap((file) =>
  [...read(file).matchAll(/^```sh\n(.*?)^```/gms)]
    .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
    .flatMap((line) => {
      const [, words = ''] =
        /^\s*(?:[A-Z_]+=\S*\s+)*(?:npx )?call-webhooks\s+([^#|<>&]*)/.exec(line) ?? [];
      return words === '' || words.startsWith('--')
        ? []
        : [{ file, argv: words.trim().split(/\s+/) }];
    }),
);

/** The scripts of this repository that its own pages name. */
const scripts = ['CONTRIBUTING.md', 'README.md', ...filesIn('contributors', '.md')].flatMap(
  (file) =>
    [...read(file).matchAll(/npm run (?:--silent )?([a-z][\w:-]*)/g)].map(([, name = '']) => name),
);

describe('the commands in the documents', () => {
  it('are found', () => {
    expect(documented.length).toBeGreaterThan(30);
    expect(scripts.length).toBeGreaterThan(15);
  });

  it.each(documented)('$argv is one that the command line takes ($file)', async ({ argv }) => {
    await expect(parse(argv)).resolves.toBeUndefined();
  });

  it('every script that is named exists', () => {
    const { scripts: own } = JSON.parse(read('package.json')) as { scripts: object };
    expect(scripts.filter((name) => !(name in own))).toEqual([]);
  });
});

describe('the commands in the pages', () => {
  it('are found', () => {
    expect(shown.map(({ file }) => file)).toContain('packages/console/page/now/now-view.tsx');
  });

  it.each(shown)(
    '$argv is one that the command line takes ($file)',
    async ({ argv, variables }) => {
      await expect(parse(argv)).resolves.toBeUndefined();
      // Without a secret, `check` leaves out the authentic event; other machines have to be allowed.
      if (argv[0] === 'check') expect(variables).toMatch(/^CALL_WEBHOOK_SECRET=/);
      if (argv.some((word) => word.startsWith('https:')))
        expect(argv).toContain('--allow-external');
    },
  );

  it.each([
    ['check', 'https://your.app/hook'],
    ['check', '--url', '3000'],
    ['chek'],
    ['check', '--to'],
  ])('would fail with %s %s', async (...argv) => {
    await expect(parse(argv)).rejects.toThrow();
  });
});
