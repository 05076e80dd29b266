const PUNCTUATION = '[]{},:';

/**
 * Indents a JSON text without reading its values, so that long numbers stay as they are.
 * @param text valid JSON
 * @param limit about how many characters are made at most, not counting the last value
 */
export function indentJson(text: string, limit: number): string {
  const made: string[] = [];
  let length = 0;
  let depth = 0;
  let previous = '';
  const add = (piece: string) => {
    made.push(piece);
    length += piece.length;
  };
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const token of tokensOf(text)) {
    if (length > limit) break;
    const opens = previous === '{' || previous === '[';
    const closes = token === '}' || token === ']';
    if (closes) depth -= 1;
    if (opens !== closes || previous === ',') add(newLine());
    add(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    previous = token;
  }
  return made.join('');
}

/** Without a regular expression for strings: a long one would need more stack than there is. */
function* tokensOf(text: string): Iterable<string> {
  let at = 0;
  while (at < text.length) {
    const begin = at;
    const character = text.charAt(at);
    at += 1;
    if (character === '"') {
      while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
      at += 1;
    } else if (isSpace(character)) continue;
    else if (!PUNCTUATION.includes(character))
      while (
        at < text.length &&
        !isSpace(text.charAt(at)) &&
        !PUNCTUATION.includes(text.charAt(at))
      )
        at += 1;
    yield text.slice(begin, at);
  }
}

const isSpace = (character: string) => /\s/.test(character);
