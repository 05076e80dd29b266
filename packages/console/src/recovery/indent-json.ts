/**
 * Indents a JSON text without reading its values, so that long numbers stay as they are.
 * @param text valid JSON
 * @param limit about how many characters are made at most
 */
export function indentJson(text: string, limit: number): string {
  let depth = 0;
  let made = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  // A string, a bracket, a comma, a colon, or anything else without white space.
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (made.length > limit) return made;
    if (token === '{' || token === '[') {
      depth += 1;
      made += token + newLine();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      made = /[{[]\s*$/.test(made.slice(-2 * depth - 4)) ? made.trimEnd() : made + newLine();
      made += token;
    } else if (token === ',') made += token + newLine();
    else made += token === ':' ? ': ' : token;
  }
  return made;
}
