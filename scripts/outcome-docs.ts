// Updates docs/outcomes.md and the README from core's outcome table: npm run outcomes. With --check,
// it writes nothing and fails if a page is out of date. It keeps the notes below a section's list,
// which are written by hand.
import { readFile, writeFile } from 'node:fs/promises';
import { OUTCOMES, type OutcomeCode } from '@call-webhooks/core';
import { CONFIGURATION_ERRORS } from '@call-webhooks/core/internal';
import { format } from 'prettier';

const root = new URL('../', import.meta.url);
const codes = Object.keys(OUTCOMES) as OutcomeCode[];

/** The table of the README, which puts outcomes of similar meaning into one row. */
const ROWS: readonly [statuses: readonly number[], meaning: string][] = [
  [[200, 202], 'Done, or stored durably: acknowledged'],
  [[401, 409], 'Forged, stale or replayed'],
  [[405, 408, 413, 415, 422], 'Not a delivery that can be processed'],
  [[500], 'A problem in your code. The log line says how to fix it'],
  [[503], 'Temporary: the service retries'],
];

/** Formats names of options as code, such as `maxAttempts`. */
const prose = (text: string) =>
  text.replace(
    /(?<![`\w.])(express\.json\(.*?\)|[a-z]+[A-Z]\w+(?:\(\))?|close\(\)|whsec_)(?![`\w])/g,
    '`$1`',
  );

const codesWith = (statuses: readonly number[]) =>
  codes.filter((code) => statuses.includes(OUTCOMES[code].status));

const overview = () =>
  [
    '| Status | Service | Outcomes |',
    '| --- | --- | --- |',
    ...ROWS.flatMap(([statuses]) => statuses)
      .sort((one, other) => one - other)
      .map((status) => {
        const found = codesWith([status]);
        const service = [...new Set(found.map((code) => OUTCOMES[code].service))].join(', ');
        const links = found.map((code) => `[\`${code}\`](#${code})`).join(', ');
        return `| ${String(status)} | ${service} | ${links} |`;
      }),
  ].join('\n');

const summary = () =>
  [
    '| Status | Outcomes | Meaning |',
    '| --- | --- | --- |',
    ...ROWS.map(([statuses, meaning]) => {
      const names = codesWith(statuses).map((code) => `\`${code}\``);
      return `| ${statuses.join(', ')} | ${names.join(', ')} | ${meaning} |`;
    }),
  ].join('\n');

function section(code: string, notes: string): string {
  const row = { ...OUTCOMES, ...CONFIGURATION_ERRORS }[code as OutcomeCode];
  const allow = code === 'method-not-allowed' ? ' with `Allow: POST`' : '';
  const status =
    'status' in row ? `${String(row.status)}${allow}, ${row.service}` : 'none, it is thrown';
  const lines = [
    `## ${code}`,
    '',
    `- **Status:** ${status}`,
    `- **When:** ${prose(row.when)}`,
    ...(row.fix === 'Nothing to do.' ? [] : [`- **Fix:** ${prose(row.fix)}`]),
  ];
  return [...lines, ...(notes ? ['', notes] : [])].join('\n');
}

/** The notes of a section: everything below its list. */
function notesOf(page: string, code: string): string {
  const start = page.indexOf(`\n## ${code}\n`);
  if (start < 0) return '';
  const [body = ''] = page.slice(start + code.length + 5).split(/^## /m);
  return body
    .split('\n')
    .filter((line) => !/^- \*\*(Status|When|Fix):\*\* /.test(line))
    .join('\n')
    .trim();
}

const replaceTable = (page: string, header: RegExp, table: string) => {
  if (!header.test(page)) throw new Error(`No table ${String(header)}.`);
  return page.replace(header, `${table}\n`);
};

function outcomesPage(page: string): string {
  const [intro = ''] = page.split(/^## /m);
  const head = replaceTable(intro, /^\| Status .*\n(?:\|.*\n)*/m, overview());
  const sections = [...codes, ...Object.keys(CONFIGURATION_ERRORS)].map((code) =>
    section(code, notesOf(page, code)),
  );
  return [head.trim(), ...sections].join('\n\n');
}

const covered = new Set(ROWS.flatMap(([statuses]) => statuses));
const missing = codes.filter((code) => !covered.has(OUTCOMES[code].status));
if (missing.length > 0) throw new Error(`No row of the README has ${missing.join(', ')}.`);

const pages: [file: string, update: (page: string) => string][] = [
  ['docs/outcomes.md', outcomesPage],
  ['README.md', (page) => replaceTable(page, /^\| Status .*\n(?:\|.*\n)*/m, summary())],
];
for (const [file, update] of pages) {
  const path = new URL(file, root);
  const page = await readFile(path, 'utf8');
  const updated = await format(update(page), {
    parser: 'markdown',
    printWidth: 100,
    singleQuote: true,
  });
  if (updated === page) continue;
  if (process.argv.includes('--check')) {
    console.error(`${file} does not match core's outcome table: npm run outcomes`);
    process.exitCode = 1;
  } else await writeFile(path, updated);
}
