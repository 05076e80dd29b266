/** What turns the direction of the text around it: `abc\u202Etxt.exe` would be read as `abcexe.txt`. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const escaped = (text: string): string =>
  text.replace(
    DIRECTIONS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** A copy of JSON data in which characters that change the direction of text are shown as escapes. */
export function withVisibleDirections<Data>(data: Data): Data {
  if (typeof data === 'string') return escaped(data) as Data;
  if (Array.isArray(data)) return data.map(withVisibleDirections) as Data;
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, withVisibleDirections<unknown>(value)]),
  ) as Data;
}
