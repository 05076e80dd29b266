// Control and format characters, line separators and lone surrogates: C0, C1, escape sequences,
// bidirectional overrides, tags. The joiners of emoji and of some scripts are harmless.
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

/** One line of text that can't move the cursor, change colours, or turn the reading direction. */
export function escapeControl(text: string): string {
  return text.replace(UNSAFE, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return SHORT[char] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 1)}}`);
  });
}

/** The same for a text of several lines. */
export const escapeLines = (text: string): string =>
  text
    .split(/(\r?\n)/)
    .map((part, at) => (at % 2 === 1 ? part : escapeControl(part)))
    .join('');

/** Whether a text is safe as it is; line feeds and tabs are. */
export const isPrintable = (text: string): boolean =>
  text.replace(/[\n\t]/g, '').search(UNSAFE) === -1;

/** JSON in one line, with everything escaped that a terminal might obey. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (char) =>
    [...Array(char.length).keys()].map((at) => `\\u${hex(char.charCodeAt(at), 4)}`).join(''),
  );
}
