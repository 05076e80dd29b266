import type { Proposal } from './proposal.ts';

/** Writes the options to paste, with each reason as a comment. What is not sure is commented out. */
export function writeSnippet(fieldNames: readonly Proposal[], wire: readonly Proposal[]): string {
  return [
    ...block('// Options of the receiver', 'fieldNames', fieldNames),
    ...block('// Options of createClient', 'wire', wire),
  ].join('\n');
}

function block(title: string, option: string, proposals: readonly Proposal[]): string[] {
  const lines = proposals.flatMap(({ setting, status, candidates }) =>
    candidates.map(({ name, reasons }) => {
      const entry = `${setting}: ${quoted(name)}, // ${reasons.map(inComment).join('; ')}`;
      return status === 'found' ? `  ${entry}` : `  // not sure: ${entry}`;
    }),
  );
  return lines.length === 0 ? [] : [title, `${option}: {`, ...lines, '},'];
}

// Names and reasons come from captured bodies: they must not end the text or the comment.
function quoted(name: string): string {
  const inner = JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"');
  return `'${inComment(inner).replaceAll("'", "\\'")}'`;
}

function inComment(text: string): string {
  return text.replace(/[\u2028\u2029]|[^\P{Cc}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
