// Updates docs/outcomes.md from core's outcome table: npm run outcomes. With --check, it writes nothing
// and fails if the page is out of date. It keeps the notes of a section, which are written by hand.
import { readFile, writeFile } from 'node:fs/promises';
import { OUTCOMES, type OutcomeCode } from '@call-webhooks/core';
import { THROWN_ERRORS } from '@call-webhooks/core/internal';
import { format } from 'prettier';

const codes = Object.keys(OUTCOMES) as OutcomeCode[];

/** Formats names of options as code, such as `maxAttempts`. */
const prose = (text: string) =>
  text.replace(
    /(?<![`\w.])(express\.json\(.*?\)|[a-z]+[A-Z]\w+(?:\(\))?|close\(\)|whsec_)(?![`\w])/g,
    '`$1`',
  );

const statuses = [...new Set(codes.map((code) => OUTCOMES[code].status))].sort((a, b) => a - b);

const overview = () =>
  statuses
    .map((status) => {
      const found = codes.filter((code) => OUTCOMES[code].status === status);
      const links = found.map((code) => `[\`${code}\`](#${code})`).join(', ');
      return `- **${String(status)}**: ${links}`;
    })
    .join('\n');

function section(code: string, notes: string): string {
  const row = { ...OUTCOMES, ...THROWN_ERRORS }[code as OutcomeCode | keyof typeof THROWN_ERRORS];
  const allow = code === 'method-not-allowed' ? ' with `Allow: POST`' : '';
  const status =
    'status' in row ? `${String(row.status)}${allow}, ${row.service}.` : `Thrown ${row.thrown}.`;
  const paragraphs = [`## ${code}`, `**${status}** ${prose(row.when)}`];
  if (row.fix !== 'Nothing to do.') paragraphs.push(`**Fix:** ${prose(row.fix)}`);
  if (notes) paragraphs.push(notes);
  return paragraphs.join('\n\n');
}

/** The notes of a section: everything below what is generated. */
function notesOf(page: string, code: string): string {
  const start = page.indexOf(`\n## ${code}\n`);
  if (start < 0) return '';
  const [body = ''] = page.slice(start + code.length + 5).split(/^## /m);
  return body
    .split('\n')
    .filter((line) => !/^\*\*(\d|Thrown|Fix:)/.test(line))
    .join('\n')
    .trim();
}

function outcomesPage(page: string): string {
  const [intro = ''] = page.split(/^## /m);
  const head = intro.replace(/^- \*\*\d.*\n(?:- .*\n)*/m, () => `${overview()}\n`);
  const sections = [...codes, ...Object.keys(THROWN_ERRORS)].map((code) =>
    section(code, notesOf(page, code)),
  );
  return [head.trim(), ...sections].join('\n\n');
}

const file = new URL('../docs/outcomes.md', import.meta.url);
const page = await readFile(file, 'utf8');
const updated = await format(outcomesPage(page), {
  parser: 'markdown',
  printWidth: 100,
  singleQuote: true,
});
if (updated !== page) {
  if (process.argv.includes('--check')) {
    console.error("docs/outcomes.md does not match core's outcome table: npm run outcomes");
    process.exitCode = 1;
  } else await writeFile(file, updated);
}
