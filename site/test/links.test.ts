import { expect, it } from '@jest/globals';
import { linkOnSite, mapLinks } from '../src/links.ts';
import { REPOSITORY } from '../src/repository.ts';

it.each([
  ['a text', '[a](x.md), [`b`](x.md#y) and <img src="x.md" />'],
  ['an image', '![a](x.md)'],
])('changes the links of %s', (_, text) => {
  expect(mapLinks(text, (link) => link.replace('x.md', 'z.md'))).toBe(
    text.replaceAll('x.md', 'z.md'),
  );
});

it.each([
  ['a block of code', '```md\n[a](x.md)\n```'],
  ['a block in a list', '- one\n\n  ```md\n  [a](x.md)\n  ```'],
  ['a block in a block', '````md\n```sh\n```\n[a](x.md)\n````'],
  ['code in a line', 'Write `[a](x.md)`.'],
])('leaves %s as it is, and changes what comes after it', (_, code) => {
  const changed = mapLinks(`${code}\n\n[b](y.md)`, (link) => `/${link}`);
  expect(changed).toBe(`${code}\n\n[b](/y.md)`);
});

it.each([
  ['docs/queues.md', 'stores.md#redis', '/stores.md#redis'],
  ['packages/adapters/README.md', '../core/README.md#options', '/packages/core.md#options'],
  ['docs/frameworks.md', '../packages/adapters#koa', '/packages/adapters.md#koa'],
  ['docs/simulator.md', 'images/a.png', '/images/a.png'],
  ['docs/testing.md', '#time', '#time'],
  ['docs/testing.md', 'https://example.com', 'https://example.com'],
  ['README.md', `${REPOSITORY}/blob/main/docs/outcomes.md#queued`, '/outcomes.md#queued'],
  ['docs/security.md', '../LICENSE', `${REPOSITORY}/blob/main/LICENSE`],
  ['README.md', 'examples', `${REPOSITORY}/tree/main/examples`],
])('%s: %s leads to %s', (source, link, expected) => {
  expect(linkOnSite(source, link)).toBe(expected);
});

it('refuses a link to a file that is not there', () => {
  expect(() => linkOnSite('docs/security.md', 'gone.md')).toThrow(
    'docs/security.md links to gone.md',
  );
});
