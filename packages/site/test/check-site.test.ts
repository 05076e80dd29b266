import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { problemsOf } from '../src/check-site.ts';

const SITE = 'https://example.com/docs/';
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'site-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A site of these pages, each with its Markdown twin. */
function problemsWith(pages: Record<string, string>): string[] {
  mkdirSync(join(folder, 'api'));
  for (const [name, html] of Object.entries(pages)) {
    writeFileSync(join(folder, name), html);
    if (name.endsWith('.html')) writeFileSync(join(folder, name.replace(/html$/, 'md')), '');
  }
  return problemsOf(folder, SITE);
}

const OTHER = '<h1 id="top">Other</h1>';

it.each([
  ['a page', '<a href="/docs/other.html">'],
  ['an anchor of a page', '<a class="x" href="./other.html#top">'],
  ['an anchor of its own', '<p id="here"><a href="#here">'],
  ['the folder of the site', '<a href="/docs/">'],
  ['another site', '<a href="https://example.org/x">'],
  ['a picture in itself', '<img src="data:image/svg+xml,x">'],
])('nothing is wrong with a link to %s', (_, html) => {
  expect(problemsWith({ 'index.html': html, 'other.html': OTHER })).toEqual([]);
});

it.each([
  ['a page that is not there', '<a href="/docs/gone.html">', /gone\.html: no such page/],
  ['an anchor that is not there', '<a href="/docs/other.html#gone">', /#gone: no such anchor/],
  ['a link that is no address', '<a href="/docs/50%.html">', /50%\.html: no such page/],
  ['a page without the path of the site', '<a href="/other.html">', /outside of the site/],
  ['a picture that is not there', '<img alt="" src="/docs/gone.png">', /no such page/],
  ['a script of another host', '<script async src="https://cdn.example.org/a.js">', /elsewhere/],
  ['a picture of another host', '<img src="//cdn.example.org/a.png">', /elsewhere/],
  ['a font of another host', '<link rel="stylesheet" href="https://a.example.org/">', /elsewhere/],
  ['a font, attributes turned', '<link href="https://a.example.org/" rel="preload">', /elsewhere/],
])('finds %s', (_, html, problem) => {
  expect(problemsWith({ 'index.html': html, 'other.html': OTHER })).toEqual([
    expect.stringMatching(problem),
  ]);
});

it('finds a style sheet that loads from another host, and a page without a twin', () => {
  writeFileSync(join(folder, 'alone.html'), '');
  expect(problemsWith({ 'a.css': '@font-face { src: url(https://a.example.org/f) }' })).toEqual([
    'a.css loads from elsewhere',
    'alone.html has no Markdown twin',
  ]);
});
