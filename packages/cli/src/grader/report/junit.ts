import type { Grade } from '../grade.ts';
import { byGroup } from '../score.ts';

/** The grades as JUnit XML: a test suite for each group. */
export function junitOf(grades: readonly Grade[], url: string): string {
  const suites = byGroup(grades).map(([id, title, own]) =>
    [
      `  <testsuite name="${xml(title)}" id="${id}" ${countsOf(own)}>`,
      ...own.flatMap(testCase),
      '  </testsuite>',
    ].join('\n'),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(`call-webhooks check --deep --to ${url}`)}" ${countsOf(grades)}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function countsOf(grades: readonly Grade[]): string {
  const count = (wanted: Grade['result']) =>
    String(grades.filter(({ result }) => result === wanted).length);
  const seconds = secondsOf(grades.reduce((sum, { ms }) => sum + ms, 0));
  return `tests="${String(grades.length)}" failures="${count('fail')}" errors="0" skipped="${count('skipped')}" time="${seconds}"`;
}

function testCase({ probe, result, saw, ms }: Grade): string[] {
  const { id, group, title, spec, fix } = probe;
  const open = `    <testcase name="${xml(title)}" classname="${group}.${id}" time="${secondsOf(ms)}"`;
  if (result === 'pass') return [`${open}/>`];
  const text = xml(`${spec.section}: ${spec.text}\n${fix}`);
  const inner = {
    fail: `<failure message="${xml(saw)}" type="${id}">${text}</failure>`,
    note: `<system-out>${xml(`Note: ${saw}`)}</system-out>`,
    skipped: `<skipped message="${xml(saw)}"/>`,
  }[result];
  return [`${open}>`, `      ${inner}`, '    </testcase>'];
}

const secondsOf = (ms: number): string => (ms / 1_000).toFixed(3);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const xml = (text: string): string =>
  text
    .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
    // XML 1.0 has no such characters, not even escaped.
    .replace(/(?![\n\t])\p{Cc}/gu, '');
