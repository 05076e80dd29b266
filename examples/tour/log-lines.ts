import { fileURLToPath } from 'node:url';
import { docsUrl } from '@call-webhooks/core/internal';

// In a clone, both are files below the current folder.
const HERE = fileURLToPath(new URL('../../', import.meta.url));
const ONLINE = new RegExp(`${docsUrl('').replaceAll('.', '\\.')}([\\w/-]+)\\.html`, 'g');

/**
 * A line of a log, behind the name of its program and broken between words.
 * @param columns the width of the terminal
 */
export function logLines(line: string, prefix: string, columns = Infinity): string[] {
  const text = line.replaceAll(HERE, '').replace(ONLINE, 'docs/$1.md');
  const indent = /^ */.exec(text)?.[0] ?? '';
  const room = columns - prefix.length - indent.length;
  const lines: string[] = [];
  for (const word of text.trim().split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((one) => prefix + indent + one);
}
