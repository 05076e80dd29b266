import type { Colors } from '../../terminal/colors.ts';
import { paragraph } from '../../terminal/fit.ts';
import { join, pad, t, widthOf, type Text } from '../../terminal/text.ts';
import type { Grade } from '../grade.ts';
import { GROUPS, type Probe } from '../probe.ts';
import { byGroup, scoreOf, type Score } from '../score.ts';

const INDENT = 9;
const ID_WIDTH = 26;

/** One grade. A failure and a note are explained. */
export function gradeLines(colors: Colors, grade: Grade, columns: number): Text[] {
  const { probe, result, saw } = grade;
  const width = Math.min(columns, 80);
  const label = {
    pass: colors.green('ok     '),
    fail: colors.red('FAILED '),
    note: colors.yellow('note   '),
    skipped: colors.dim('skipped'),
  }[result];
  if (result === 'pass') return [t`${label}  ${pad(probe.id, ID_WIDTH)}  ${saw}`];
  const head = t`${label}  ${probe.id}`;
  if (result === 'skipped') return [t`${label}  ${pad(probe.id, ID_WIDTH)}  ${colors.dim(saw)}`];
  const more = [
    `${probe.title}: ${saw}.`,
    ...(result === 'fail' ? [`Spec, ${probe.spec.section}: ${probe.spec.text}`] : []),
    `Fix: ${probe.fix}`,
  ];
  return [head, ...more.flatMap((line) => paragraph(line, width, INDENT))];
}

/** The points of each group, and of all. */
export function scoreLines(colors: Colors, grades: readonly Grade[]): Text[] {
  const rows = byGroup(grades).map(([, title, own]) => scoreLine(colors, title, scoreOf(own)));
  return [t``, ...rows, scoreLine(colors, 'Score', scoreOf(grades))];
}

function scoreLine(colors: Colors, title: string, score: Score): Text {
  const { points, passed, failed, notes, skipped } = score;
  const shown = points === undefined ? '  –' : String(points).padStart(3);
  const style = points === undefined ? colors.dim : points === 100 ? colors.green : colors.red;
  const counts = [
    `${String(passed)} passed`,
    ...(failed > 0 ? [`${String(failed)} failed`] : []),
    ...(notes > 0 ? [`${String(notes)} ${notes === 1 ? 'note' : 'notes'}`] : []),
    ...(skipped > 0 ? [`${String(skipped)} skipped`] : []),
  ];
  return join([pad(title, ID_WIDTH), style(shown), colors.dim(counts.join(', '))], '  ');
}

/** `--list`: one probe. */
export function probeLines({ id, title, weight, needs }: Probe, columns: number): Text[] {
  const need = needs.filter((one) => one !== 'secret').at(-1);
  const start = t`${String(weight).padStart(3)}  ${pad(id, ID_WIDTH)}  `;
  const content = need === undefined ? title : `${title} (needs ${need})`;
  const [first = t``, ...rest] = paragraph(content, Math.min(columns, 80), widthOf(start));
  return [t`${start}${first.plain.trimStart()}`, ...rest];
}

/** The heading of a group. */
export const groupLine = (colors: Colors, group: Probe['group']): Text =>
  colors.bold(GROUPS[group]);
