import { styleText } from 'node:util';
import type { Status } from '@call-webhooks/recovery';
import { logLines } from './log-lines.ts';

/** What the receiver says of itself. */
export interface ToldStatus extends Pick<Status, 'attention'> {
  /** What `call-webhooks status` prints first. */
  readonly line: string;
}

const COLUMNS = 80;

/** Prints the status, as `call-webhooks status` does. */
export function printStatus({ line, attention }: ToldStatus, print: (text: string) => void): void {
  const tone = attention.length > 0 ? 'yellow' : 'green';
  const paragraph = (text: string, indent: string) => {
    for (const one of logLines(text, indent, COLUMNS)) print(styleText(tone, one));
  };
  print('');
  paragraph(`Status: ${line}`, '');
  for (const { text, fix } of attention) {
    paragraph(text, '  ');
    paragraph(`Fix: ${fix}`, '  ');
  }
  print('');
}
