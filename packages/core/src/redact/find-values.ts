import { fold, WORD, type PersonalValues } from './personal-values.ts';
import { redactQuotes } from './quotes.ts';

const REDACTED = '[redacted]';
/** So many characters in a row that are also in a note are a quote of it. */
const QUOTE_LENGTH = 20;

/** Removes what is personal in a delivery from a text, however it is written there. */
export function redactValues(text: string, values: PersonalValues): string {
  let clean = text;
  // The longest first: a shorter one may be a part of it.
  const literals = [...values.literals].sort((a, b) => b.length - a.length);
  for (const literal of literals) clean = clean.replaceAll(literal, REDACTED);
  clean = redactQuotes(clean, [...values.notes], QUOTE_LENGTH);
  clean = redactNumbers(clean, values.numbers);
  clean = redactWords(clean, values);
  return clean.replace(/\[redacted\](?:[\s,._'’+-]{0,2}\[redacted\])+/g, REDACTED);
}

/** Words of a text. What follows an escape of JSON is one of its own: `"Ada\nLovelace"`. */
const TOKEN = new RegExp(`\\\\u[0-9a-f]{4}|\\\\[bfnrt]|${WORD.source}`, 'giu');

interface Token {
  readonly word: string;
  readonly folded: string;
  readonly start: number;
  readonly end: number;
}

function redactWords(text: string, values: PersonalValues): string {
  const tokens = [...text.matchAll(TOKEN)]
    .filter(([word]) => !word.startsWith('\\'))
    .map(({ 0: word, index }): Token => {
      return { word, folded: fold(word), start: index, end: index + word.length };
    });
  const spans: [number, number][] = [];
  for (let at = 0; at < tokens.length; at++) {
    const length = matchLength(tokens, at, values);
    const first = tokens[at];
    const last = tokens[at + length - 1];
    if (length === 0 || !first || !last) continue;
    spans.push([first.start, last.end]);
    at += length - 1;
  }
  return withoutSpans(text, spans);
}

/** How many tokens are personal from here on. */
function matchLength(tokens: Token[], at: number, values: PersonalValues): number {
  const { word, folded } = tokens[at] as Token;
  const phrases = [...(values.phrases.get(folded)?.values() ?? [])];
  const lengths = phrases
    .filter((phrase) => phrase.every((part, index) => tokens[at + index]?.folded === part))
    .map((phrase) => phrase.length);
  const isWord = values.words.has(folded) || values.exactWords.has(word);
  return Math.max(isWord ? 1 : 0, ...lengths);
}

/** A run of digits, as a phone number may be grouped. */
const DIGITS = /\d(?:[\s()./\u2010-\u2015-]{0,3}\d)*/g;
/** A number is recognized by so many of its last digits. */
const SUFFIX = 7;

function redactNumbers(text: string, numbers: ReadonlySet<string>): string {
  if (numbers.size === 0) return text;
  const spans: [number, number][] = [];
  for (const { 0: run, index } of text.matchAll(DIGITS)) {
    const places = [...run.matchAll(/\d/g)].map((digit) => index + digit.index);
    const digits = run.replace(/\D/g, '');
    for (const number of numbers) {
      const suffix = number.slice(-SUFFIX);
      let lastEnd = 0; // of the match before
      for (let at = digits.indexOf(suffix); at !== -1; at = digits.indexOf(suffix, at + 1)) {
        const end = (places[at + SUFFIX - 1] ?? 0) + 1;
        if (/\d/.test(text.charAt(end))) continue;
        let first = at;
        let left = number.length - SUFFIX; // the digits of the number that are not matched yet
        while (left > 0 && digits[first - 1] === number[left - 1]) {
          first--;
          left--;
        }
        let start = places[first] ?? 0;
        while (start > lastEnd && /[\d+(]/.test(text.charAt(start - 1))) start--;
        spans.push([start, end]);
        lastEnd = end;
      }
    }
  }
  return withoutSpans(text, spans);
}

function withoutSpans(text: string, spans: [number, number][]): string {
  let clean = '';
  let kept = 0; // where the text that is not copied yet begins
  for (const [start, end] of spans.sort(([a], [b]) => a - b)) {
    if (start >= kept) clean += text.slice(kept, start) + REDACTED;
    kept = Math.max(kept, end);
  }
  return clean + text.slice(kept);
}
