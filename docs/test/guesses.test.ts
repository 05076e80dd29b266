import { describe, expect, it } from '@jest/globals';
import { documents, read, sources } from './files.ts';

/** Pages that users read: decisions are about the past, and the changelog about changes. */
const pages = () =>
  documents().filter(
    (file) => !/^(contributors\/|CHANGELOG|packages\/\w+\/CHANGELOG|\.changeset)/.test(file),
  );

const LIST = 'docs/wire-contract.md';
const page = read(LIST);
const list = page.slice(page.indexOf('## What is a guess'));

/** The rows of the list: what is not shown, what we assume, and the options that change it. */
const guesses = list
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (Not shown|-)/.test(line))
  .map((line) => line.slice(2, -2).split(/ +\| */));

/** Sentences that state a guess as if the service's interface showed it. */
const CLAIMS: [guess: RegExp, claim: RegExp][] = [
  [
    /Number of retries/,
    /service (retries|tries|makes)[^.]* (\d+|three|four|five|six) (times|attempts|retries)/i,
  ],
  [/last retry emails/, /\bpause[sd]?\b[^.|]*\b(e-)?mail|mail[^.|]*\bpaused\b/i],
  [
    /redirects are followed/,
    /\b(A r|R)edirects? (is|are) (not|never) followed|service (does not|doesn't|never) follow/,
  ],
  [/Size of bodies/, /bodies (are|is) (small|tiny|(far|well) below)/i],
  [/compressed/, /service (sends|never sends|only sends)[^.]* (plain|compressed|uncompressed)/i],
  [/secret of the recording webhook/, /recording webhook(’s|'s)? (secret )?(is|can be) rotated/i],
  [/lack `callId`/, /\bold(er)? action[^.]* (lacks?|has no|without)\b(?! a secret)/i],
  [/always sent/, /recording-available[^.|]*always (has|sends|carries|contains)/i],
  [/Format of recordings/, /recordings? (is|are|comes? as) (an? )?(wav|mp3)/i],
  [/^Ids/, /\b(ids?|_id) (is|are|has|have|consists? of) 24 hex/i],
];

/** Paragraphs, list items and table rows of a page, without its programs. */
const passagesOf = (text: string) => text.replace(/^```.*?^```/gms, '').split(/\n\n|\n(?=[-|*] )/);

/** Comments and texts of a source file. */
const textsOf = (source: string) =>
  [...source.matchAll(/\/\*\*[^]*?\*\/|(?:^ *\/\/.*\n)+|'(?:[^'\\\n]|\\.)*'|`[^`]*`/gm)].map(
    ([text]) => text.replace(/\n *(\*|\/\/)/g, ''),
  );

const unmarked = (file: string, passages: string[], claim: RegExp) =>
  passages
    .filter((passage) => claim.test(passage) && !/guess|assum|thought to|404/i.test(passage))
    .map((passage) => `${file}: ${passage.trim()}`);

describe('the list of guesses', () => {
  it('names what is assumed for each, and options that exist', () => {
    expect(guesses.length).toBeGreaterThan(15);
    const options = sources()
      .map((file) => read(file))
      .join('\n');
    for (const [unknown, assumed, settings = ''] of guesses) {
      expect({ unknown, assumed }).toEqual({ unknown, assumed: expect.stringMatching(/\w{3}/) });
      for (const [, option = ''] of settings.matchAll(/`(\w+)`/g))
        expect({ option, known: new RegExp(`\\b${option}\\??:`).test(options) }).toEqual({
          option,
          known: true,
        });
    }
  });

  it('has a row for each `@guess` of the sources, and the sources have one for each row', () => {
    const marked = sources().flatMap((file) =>
      [...read(file).matchAll(/@guess (.+?)(?: \*\/)?$/gm)].map(([, guess = '']) => guess),
    );
    expect([...new Set(marked)].sort()).toEqual(guesses.map(([unknown]) => unknown).sort());
  });

  it('has each claim that the docs could make', () => {
    for (const [guess] of CLAIMS)
      expect(guesses.filter(([unknown = '']) => guess.test(unknown))).toHaveLength(1);
  });

  it.each(CLAIMS)('%s is stated as a fact nowhere', (_guess, claim) => {
    const inPages = pages().flatMap((file) => {
      const text = file === LIST ? page.replace(list, '') : read(file);
      return unmarked(file, passagesOf(text), claim);
    });
    const inSources = sources().flatMap((file) => unmarked(file, textsOf(read(file)), claim));
    expect([...inPages, ...inSources]).toEqual([]);
  });

  it('is the only one: other pages link to it', () => {
    const others = pages().filter((file) => file !== LIST && /^#+ .*guess/im.test(read(file)));
    for (const file of others)
      expect({ file, text: read(file) }).toEqual({
        file,
        text: expect.stringContaining('wire-contract.md#what-is-a-guess'),
      });
  });
});
