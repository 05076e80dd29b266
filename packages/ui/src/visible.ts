/**
 * What hides itself, or turns the direction of the text around it: `abc\u202Etxt.exe` would be read as
 * `abcexe.txt`. Line breaks and tabs have their place in a text.
 */
const HIDDEN = /(?![\t\r\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

/** A text in which everything can be seen: hidden characters are written as JSON escapes. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
