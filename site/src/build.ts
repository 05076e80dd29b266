// Builds the documentation site into site/dist: npm run site
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTCOMES } from '@call-webhooks/core';
import { THROWN_ERRORS, docsUrl } from '@call-webhooks/core/internal';
import { build } from 'vitepress';
import { writeApiReference } from './api-reference.ts';
import { problemsOf } from './check-site.ts';
import { writeMarkdownTwins } from './markdown-twins.ts';
import { ROOT, SITE, SITE_FOLDER } from './repository.ts';
import { writeSettings } from './settings.ts';
import { stagePages } from './stage-pages.ts';

const seconds = async (name: string, work: () => unknown) => {
  const start = Date.now();
  await work();
  console.log(`${name}: ${((Date.now() - start) / 1_000).toFixed(1)} s`);
};

await seconds('pages', stagePages);
writeSettings();
await seconds('API reference', writeApiReference);
await seconds('site', () => build(join(ROOT, 'site')));
await seconds('Markdown', writeMarkdownTwins);

const outcomes = readFileSync(join(SITE_FOLDER, 'outcomes.html'), 'utf8');
const codes = Object.keys({ ...OUTCOMES, ...THROWN_ERRORS });
const problems = [
  ...problemsOf(SITE_FOLDER, SITE),
  ...codes
    .filter((code) => !outcomes.includes(` id="${code}"`))
    .map((code) => `${docsUrl(`outcomes.md#${code}`)}, which log lines link to, is not there`),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
