import type { DeliveryContent } from '../errors.ts';

/** A URL in a message contains `Ada%20Lovelace` and `ada%40example.com`. */
export const decodeEscapes = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped);
    } catch {
      return escaped;
    }
  });

/** Without line breaks and terminal codes, so that no text can forge a log line. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/**
 * Words that error messages use, and parts of names that say nothing. A person who is called one of
 * these is found only where the word is written as in the delivery, with its capital.
 */
const ORDINARY = `
a able abort aborted about above accept access account action active actual add added address after
again agent all allow allowed already also an and another any api app are argument arguments array
art as at attempt attempts auth authentication available back bad base basic be because been before
being below between bill body boolean both bound broken buffer busy but by byte bytes cache call
called caller calling can cancel cancelled canceled cannot case cause chain chance channel char
character characters check child class clean clear client close closed cluster code column command
commit company complete completed conflict connect connected connecting connection constraint contact
contacts content context corporation could count create created credentials current customer data
database date day dead deal deny denied desk did dial digit digits direction do does done down due
duplicate during each early either email empty end ended entry enough entity err error errors even
event events every exceed exceeded exception execute exist existing exists expect expected expired
external fail failed failing failure false fatal fetch field fields file final find first flag for
forbidden format found free from full function gateway get getaddrinfo given go gone good got grant group had
handle handler hang has have he header headers help here high hold home host how http id if ignored
image in inbound inc index info inner input insert instead int integer internal into invalid is
issue it item items its job json just keep key keys kind known last late later lead least left length
less level limit line link list live load local lock locked log login long lost low ltd mail main
make malformed manager many mark match matched matching max maximum may me member memory message
method middle min minimum miss missing mobile mode model module more most must my name named names
need network never new next no node none nor normal not note nothing now null number object of off
office old on once one only open operation option optional options or order organization origin
other our out outbound outer over own owner page parameter parent parse parsed part partner password
past path pay peer pending per permission person phone place please point pool port position post
private process profile progress property protocol provided public put query queue quota range rate
raw reach reached read ready realm reason received recipient record recording refused region register
reject rejected relation remote remove removed repeat replica reply request requested require
required reset resolve resource response rest result retried retries retry return returned right
role root route row rule run running sales same save saved scheme schema scope script search second secret
security see select send sender sent sequence serial server service session set she short should
sign signature size slow small so socket some source space start started state statement status still
stop stopped store stream string strong subject success such support syntax system table target task
team test text than that the their them then there these they thing this those thread threshold
through throttled throw time timed timeout times timestamp title to today token too topic total
transaction tried true try two type unable unauthorized undefined unexpected unique unknown until
unprocessable unsupported up update updated upstream url us use used user username users using valid
validation value values via view violates voice voicemail wait waiting warning was we web webhook
were what when where which while who why will with without word work worker workspace would write
wrong yes you young your zero
al am bin da das de del della der des di dos du el ibn la las le les los lo mac mr mrs ms san st ter
van von den het und und gmbh llc dr prof`;

/** In lower case. */
export const ORDINARY_WORDS: ReadonlySet<string> = new Set(ORDINARY.trim().split(/\s+/));

/** Whether a word says nothing of a person. */
export const isOrdinaryWord = (word: string): boolean => ORDINARY_WORDS.has(word.toLowerCase());

/**
 * Removes the parts of longer values: a message may contain just the first words of a note.
 * @param partLength so many characters in a row that also occur in one value are a part of it
 */
export function redactQuotes(text: string, values: readonly string[], partLength: number): string {
  if (values.length === 0) return text;
  const lower = text.toLowerCase();
  // A rare letter gets longer in lower case. Then the positions would differ.
  const fold = (value: string) => (lower.length === text.length ? value.toLowerCase() : value);
  const searched = fold(text);
  const partAt = (of: string, at: number) => of.slice(at, at + partLength);
  const parts = new Set<string>();
  for (let at = 0; at <= searched.length - partLength; at++) parts.add(partAt(searched, at));
  const quoted = new Set<string>();
  for (const value of values.map(fold))
    for (let at = 0; at <= value.length - partLength; at++)
      if (parts.has(partAt(value, at))) quoted.add(partAt(value, at));
  let clean = '';
  let kept = 0; // where the text that is not copied yet begins
  for (let at = 0; at <= searched.length - partLength; at++) {
    if (!quoted.has(partAt(searched, at))) continue;
    let end = at + partLength;
    while (quoted.has(partAt(searched, end - partLength + 1))) end++;
    clean += `${text.slice(kept, at)}[redacted]`;
    kept = end;
    at = end - 1;
  }
  return clean + text.slice(kept);
}

/*
 * Every pattern starts at a place that it cannot find again within its own match, or has a bounded
 * length. A pattern that starts anew at each letter of a long run would take quadratic time.
 */

/** Between the digits of a phone number. */
const GAP = '[ ().\\u00a0\\u2010-\\u2015-]';

/** Tokens that show what they are. */
const TOKENS = [
  /\bwhsec_[A-Za-z0-9+/=_-]+/g,
  /\b[rs]k_(?:live|test)_[\w*]{4,}/g, // Stripe
  /\bsk-[\w-]{16,}/g, // OpenAI, Anthropic
  /\b(?:gh[opsur]_|github_pat_|glpat-|npm_|xox[a-z]-)[\w-]{8,}/g, // GitHub, GitLab, npm, Slack
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, // AWS
  /\bAIza[\w-]{30,}/g, // Google
  /\bSG\.[\w-]{10,}\.[\w-]{10,}/g, // SendGrid
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, // JSON Web Tokens
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
];

const URL = /\b([a-z][a-z0-9+.-]{0,20}):\/\/([^\s"'<>]+)/gi;

/** The value after a name such as `password=` or `"apiToken":`, and after `Bearer`. */
const NAME = String.raw`(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_ ]?key|credential|signature|cookie)["']?\s{0,3}[=:]\s{0,3}`;
const NAMED_SECRETS = [
  // In quotes, it may have spaces.
  new RegExp(String.raw`(?<=${NAME}")(?:[^"\\\r\n]|\\.){1,500}(?=")`, 'gi'),
  new RegExp(String.raw`(?<=${NAME}')(?:[^'\\\r\n]|\\.){1,500}(?=')`, 'gi'),
  new RegExp(String.raw`(?<=${NAME}["']?)(?!["'])(?:v1,)?[^\s"'&,;]+`, 'gi'),
  /(?<=\bauthorization["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"',;]+(?:\s[^\s"',;]+)?/gi,
  /(?<=\b(?:bearer|basic)\s{1,3})[^\s"',;]+/gi,
];

const LOCAL = '[\\p{L}\\p{N}\\p{M}._%+-]';
const EMAIL_FORM = new RegExp(
  `(?<!${LOCAL}|[\\p{L}\\p{N}]['’])${LOCAL}+(?:['’]${LOCAL}+)*@(?:[\\p{L}\\p{N}\\p{M}-]+\\.)+\\p{L}{2,}`,
  'gu',
);

/** The start of a number in its own right: not the rest of an id, a decimal, a path or an address. */
const START = '(?<![\\w.:/+-])';
const END = '(?![\\w]|[.:/-]\\w)';

const PHONES = [
  // +15550104477, +1 (555) 010-4477
  new RegExp(`(?<![\\w+])\\+(?:\\d{7,15}|\\d{1,4}(?:${GAP}{1,2}\\d{1,8}){1,6})(?!\\d)`, 'g'),
  // (555) 010-4477
  new RegExp(`(?<!\\w)\\(0?\\d{2,5}\\) ?\\d{2,5}(?:[ .-]\\d{2,5}){1,3}${END}`, 'g'),
  // 555-010-4477, 1 555 010 4477
  new RegExp(`${START}(?:1[ .-])?\\d{3}([ .\\u2010-\\u2015-])\\d{3}\\1\\d{4}${END}`, 'g'),
  // 0171 5550123, 0555/010/4477, 030-555 01 23
  new RegExp(`${START}0[1-9]\\d{1,4}[ /-]\\d{2,8}(?:[ /-]\\d{2,8}){0,3}${END}`, 'g'),
  // phone: 15550104477
  /(?<=\b(?:phone|mobile|telephone|tel|msisdn|fax|sms|whatsapp|dial(?:l?ed|l?ing)?)(?:[ _-]?number)?["']?\s{0,2}[:=]?\s{0,2}["'(<]?)\d[\d ().-]{5,17}\d(?!\w)/gi,
  // number 15550104477, call 15550104477
  /(?<=\b(?:number|call(?:ed|ing)?)["']?\s{0,2}[:=]?\s{0,2}["'(<]?)\d{10,15}(?!\w)/gi,
];

/** Removes secrets, e-mail addresses and phone numbers, as far as their form shows what they are. */
export function redactPatterns(text: string): string {
  let clean = text.replace(URL, withoutCredentials);
  for (const pattern of TOKENS) clean = clean.replace(pattern, '[redacted]');
  for (const pattern of NAMED_SECRETS)
    clean = clean.replace(pattern, (value) => (isOrdinaryValue(value) ? value : '[redacted]'));
  clean = clean.replace(EMAIL_FORM, '[redacted]');
  for (const pattern of PHONES)
    clean = clean.replace(pattern, (number) => (isPhoneNumber(number) ? '[redacted]' : number));
  return clean;
}

/**
 * Source files in stack traces, up to the last @: `file:///app/node_modules/@`. They name no host, and have
 * no colon (apart from that of a drive) in front of which a user could stand, so there is no password.
 */
const SOURCE_FILE = /^(?:file|webpack|webpack-internal|turbopack):\/\/\/(?:[a-z]:\/)?[^:]*$/i;

/** A password may have an @ or a / in it. In a URL of http, an @ behind the host is part of the path. */
function withoutCredentials(url: string, scheme: string, rest: string): string {
  const isWeb = /^(?:https?|wss?)$/i.test(scheme);
  const end = (isWeb ? rest.replace(/[/?#].*/s, '') : rest).lastIndexOf('@');
  const isSourceFile = SOURCE_FILE.test(url.slice(0, url.lastIndexOf('@')));
  return end === -1 || isSourceFile ? url : `${scheme}://[redacted]${rest.slice(end)}`;
}

/** `token: expired`, `token: invalid_grant`, `token: TypeError` and `token: }` name no token. */
const isOrdinaryValue = (value: string) =>
  value.split(/[ _]/).every((word) => {
    const letters = word.replace(/^\W+|\W+$/g, '');
    return /^$|(?:Error|Exception)$|^E[A-Z]{3,}$/.test(letters) || isOrdinaryWord(letters);
  });

const DATE = /^\d{4}-\d\d-\d\d|^\d{1,4}([./-])\d{1,2}\1\d{1,4}$/;
const IP_ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const EPOCH_MS = /^1[4-9]\d{11}$/;

function isPhoneNumber(text: string): boolean {
  const digits = text.replace(/\D/g, '').length;
  return digits >= 7 && digits <= 15 && ![DATE, IP_ADDRESS, EPOCH_MS].some((no) => no.test(text));
}

/** What to look for in a text: what is personal in the content of a delivery. */
export interface PersonalValues {
  /** Folded words, such as the parts of a name. */
  readonly words: Set<string>;
  /** Words that count only as they are written here. */
  readonly exactWords: Set<string>;
  /** Two or more folded words in a row, by the first of them, and by all of them. */
  readonly phrases: Map<string, Map<string, string[]>>;
  /** Secrets, and words of scripts that put no space between words: they count everywhere. */
  readonly literals: Set<string>;
  /** The digits of phone numbers. */
  readonly numbers: Set<string>;
  /** Long texts. A text that quotes a part of one is redacted there. */
  readonly notes: Set<string>;
}

/** A word: letters, digits and marks. */
export const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const EMAIL = /([^\s@"<>(),:;]{1,64})@[^\s@"<>(),:;]{1,255}/gu;
/** What has more cannot be searched for within a few milliseconds for each text of an error. */
const MAX_VALUES = 500;
const MAX_CHARACTERS = 16_000;
/** A text of more words is a note, and not a name. */
const MAX_NAME_WORDS = 8;
const MAX_NAME_LENGTH = 200;

/** Without case and accents: a URL may have `angeles` for `Ángeles`. */
export const fold = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const set = (words: string) => new Set(words.split(/\s+/));
/** These fields identify events, not people. */
const PLAIN_FIELDS = set('eventName eventId callId');
/** A field whose name ends with one of these holds an id, a time, a state and the like. */
const TECHNICAL = set(
  `id ids uuid guid type status state kind direction outcome result code url urls uri href at date
  time timestamp duration seconds minutes timezone tz locale language currency version format event
  action method priority stage`,
);
const PERSONAL = set(
  `name firstname lastname fullname surname nickname username first last mail email phone mobile cell
  tel telephone fax msisdn number extension ext caller callee called dialed recipient contact customer
  client person user agent owner assignee guest patient attendee participant address street city zip
  postcode birth birthday note notes comment password passwd pwd secret token credential credentials
  apikey`,
);
const SECRET = set('password passwd pwd secret token credential credentials apikey');
const SHORT_NUMBER = set('extension ext zip postcode phone tel');

/** What the name of a field says of its values: they are personal, or an id, a time, a state and the like. */
export type FieldKind = 'personal' | 'technical' | 'unknown';

/** `recipientName` has the words `recipient` and `name`. */
const wordsOf = (field: string): string[] =>
  field
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);

function kindOf(words: string[], parent: FieldKind): FieldKind {
  if (TECHNICAL.has(words.at(-1) ?? '')) return 'technical';
  if (words.some((word) => PERSONAL.has(word))) return 'personal';
  return parent === 'personal' ? 'personal' : 'unknown';
}

/**
 * What the name of a field says of its values.
 * @param parent what the field is in says; a value in `contact` is personal
 */
export const fieldKind = (field: string, parent: FieldKind = 'unknown'): FieldKind =>
  kindOf(wordsOf(field), parent);

/**
 * Finds what is personal in the content of a delivery. Which fields that is, is told by their names,
 * and for other fields by the form of their values: what looks like an id, a time, a URL or a constant
 * is not.
 * @returns `undefined` if there are too many values, or they cannot be read
 */
export function personalValues(content: unknown): PersonalValues | undefined {
  const found: PersonalValues = {
    ...{ words: new Set(), exactWords: new Set(), phrases: new Map() },
    ...{ literals: new Set(), numbers: new Set(), notes: new Set() },
  };
  const visited = new Set<unknown>();
  let count = 0;
  let characters = 0;
  const isTooMuch = () => count > MAX_VALUES || characters > MAX_CHARACTERS;
  const visit = (value: unknown, field: string, parent: FieldKind): void => {
    if (typeof value === 'string') characters += value.length;
    count += 1;
    if (isTooMuch() || PLAIN_FIELDS.has(field)) return;
    const names = wordsOf(field);
    const kind = kindOf(names, parent);
    if (typeof value === 'string') addText(found, value, names, kind);
    if (typeof value === 'number' || typeof value === 'bigint')
      if (kind === 'personal') addNumber(found, String(value), names);
    if (typeof value !== 'object' || value === null || visited.has(value)) return;
    visited.add(value);
    if (value instanceof Map || value instanceof Set || Array.isArray(value)) {
      const isMap = value instanceof Map;
      for (const inner of isMap ? [...value].flat() : value) visit(inner, isMap ? '' : field, kind);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      characters += name.length;
      if (isTooMuch()) return;
      if (isNameOfPerson(name)) addText(found, name, [], 'personal');
      visit(inner, name, kind);
    }
  };
  try {
    visit(content, '', 'unknown');
  } catch {
    return undefined; // a getter of what a schema made
  }
  return isTooMuch() ? undefined : found;
}

/** A key may be the name of a person: `{ "Ada Lovelace": 3 }`. */
const isNameOfPerson = (key: string) =>
  /[\s@]|[^\0-\x7f]/.test(key) ||
  (/^[A-Z][a-z]+(?:_[A-Z][a-z]+)?$/.test(key) && !ORDINARY_WORDS.has(key.toLowerCase()));

function addText(found: PersonalValues, text: string, names: string[], kind: FieldKind): void {
  if (kind === 'technical' && text.length <= MAX_NAME_LENGTH) return;
  if (names.some((name) => SECRET.has(name)) && text.length > 3) found.literals.add(text);
  if (/^\+?[\d\s()./\u2010-\u2015-]+$/.test(text)) {
    addNumber(found, text, names);
    return;
  }
  if (isTechnical(text, kind)) return;
  const rest = text.replace(EMAIL, (_address, local: string) => {
    addWords(found, local, 'personal');
    return ' ';
  });
  addWords(found, rest, kind);
}

function addNumber(found: PersonalValues, text: string, names: string[]): void {
  const digits = text.replace(/\D/g, '');
  if (digits.length >= 7 && digits.length <= 15 && !isTechnical(text, 'personal'))
    found.numbers.add(digits);
  else if (digits.length > 2 && names.some((name) => SHORT_NUMBER.has(name)))
    found.words.add(digits);
}

/** Nothing but an id, a time or a URL. */
const ID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.,]+ ?(?:Z|UTC|GMT|CES?T|[ECMP][SD]T|[+-][\d:]+)?)?$/i;
const WEB_URL = /^https?:\/\/\S*$/i;

/** Ids, times and URLs; where the field's name says nothing, constants as well. */
const isTechnical = (text: string, kind: FieldKind): boolean =>
  [ID, TIME, WEB_URL].some((form) => form.test(text)) ||
  (kind !== 'personal' &&
    /^[a-z0-9]+(?:[/_.:+-]+[a-z0-9]+)*$|^[A-Z0-9_]+$|^(?=\D*\d)[\w.:/+=-]+$/.test(text));

function addWords(found: PersonalValues, text: string, kind: FieldKind): void {
  const words = text.match(WORD) ?? [];
  const isNote = words.length > MAX_NAME_WORDS || text.length > MAX_NAME_LENGTH;
  if (isNote) found.notes.add(text);
  for (const word of new Set(words)) {
    if (SPACELESS.test(word)) found.literals.add(word);
    else if (isIdentifying(word)) addWord(found, word, isNote, kind);
  }
  if (isNote || words.length < 2) return;
  const folded = words.map(fold);
  const first = folded[0] as string;
  if (folded.every((word) => ORDINARY_WORDS.has(word))) return;
  const phrases = found.phrases.get(first) ?? new Map<string, string[]>();
  found.phrases.set(first, phrases.set(folded.join(' '), folded));
}

function addWord(found: PersonalValues, word: string, isNote: boolean, kind: FieldKind): void {
  const folded = fold(word);
  const isLowerCase = word === word.toLowerCase() && word !== word.toUpperCase();
  if (ORDINARY_WORDS.has(folded)) {
    if (!isNote && !isLowerCase && kind === 'personal') found.exactWords.add(word);
  } else if (isNote) {
    if (!isLowerCase) found.exactWords.add(word).add(word.toUpperCase());
  } else if (!isLowerCase || kind === 'personal') found.words.add(folded);
}

/** A single letter identifies nobody, and digits alone are no word. */
const isIdentifying = (word: string) => word.length > 1 && /\p{L}/u.test(word);

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

/** A longer text is withheld: it may quote a whole body, and searching it would take too long. */
const STRICT_MAX_LENGTH = 4_000;

/** Wider than those that show what they are. */
const PATTERNS = [
  // Starts only at the beginning of a run: tried at each letter of a long one, it is quadratic.
  /(?<![^\s@"'<>(),:;])[^\s@"'<>(),:;]+@[^\s@"'<>(),:;]+\.[^\s@"'<>(),:;]+/g,
  /\+?\(?\d[\d\s()./\u2010-\u2015-]{5,}\d/g, // digits that may be a phone number
];

/** So many characters in a row that also occur in one value are a part of it. */
const PART_LENGTH = 8;

/**
 * Removes every text of a delivery, all digits that could be a phone number, secrets and e-mail
 * addresses. Dates, ids and ordinary words may go with them.
 * @param values the texts of the delivery; `undefined` if it cannot be searched
 */
export function redactStrictly(text: string, values: readonly string[] | undefined): string {
  if (text.length > STRICT_MAX_LENGTH)
    return `[withheld: ${String(text.length)} characters are too many to redact]`;
  if (values === undefined) return '[withheld: the content of the delivery cannot be searched]';
  let clean = redactPatterns(decodeEscapes(text));
  for (const pattern of PATTERNS) clean = clean.replace(pattern, '[redacted]');
  for (const value of values) if (value.length <= clean.length) clean = redactWord(clean, value);
  clean = redactQuotes(clean, values, PART_LENGTH);
  return oneLine(clean);
}

/** Also after an escape of JSON: in `"Ada\nLovelace"`, the `n` is not a part of the name. */
const WORD_START = '(?:(?<![\\p{L}\\p{N}])|(?<=\\\\[bfnrt]|\\\\u[0-9a-f]{4}))';

function redactWord(text: string, value: string): string {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // A word ends where its letters end, except in scripts that are written without spaces.
  const spaceless =
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
  const pattern = spaceless.test(value) ? literal : `${WORD_START}${literal}(?![\\p{L}\\p{N}])`;
  return text.replace(new RegExp(pattern, 'giu'), '[redacted]');
}

const STRICT_MAX_VALUES = 500;
const MAX_VISITS = 2_000;
/** What has more cannot be searched for in every text of an error without blocking the process. */
const STRICT_MAX_CHARACTERS = 16_000;
/** A text of more words is not a name, and its words are common ones. */
const MAX_WORDS = 8;
const STRICT_MAX_NAME_LENGTH = 200;
/** These fields identify events, not people. */
const STRICT_PLAIN_FIELDS = new Set(['eventName', 'eventId', 'callId']);

/**
 * Every text in a payload, longest first, also escaped as in JSON, and the words of short texts: a
 * message may contain just a first name, or the part of an address before the `@`. Keys count as well,
 * apart from those that look like field names: letters, digits and `_`, the first letter in lower case.
 * @param maxLength longer texts are left out
 * @param maxCharacters of all texts together
 * @returns `undefined` if there are too many, or they cannot be read
 */
export function sensitiveTexts(
  payload: unknown,
  maxLength: number,
  maxCharacters = STRICT_MAX_CHARACTERS,
): string[] | undefined {
  const found = new Set<string>();
  const visited = new Set<unknown>();
  let visits = 0;
  let characters = 0;
  const isTooMuch = () =>
    found.size > STRICT_MAX_VALUES || visits > MAX_VISITS || characters > maxCharacters;
  const add = (text: string): void => {
    if (text.length > maxLength) return;
    characters += text.length;
    if (isTooMuch()) return;
    found.add(text);
    found.add(JSON.stringify(text).slice(1, -1)); // as a message that quotes JSON has it
    if (text.length > STRICT_MAX_NAME_LENGTH) return;
    const words = text.split(/[\s@,;()"<>]+/);
    if (words.length > MAX_WORDS) return;
    for (const word of words) found.add(word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''));
  };
  const visit = (value: unknown): void => {
    visits += 1;
    if (isTooMuch()) return;
    if (typeof value === 'number' || typeof value === 'bigint') add(String(value));
    if (typeof value === 'string') add(value);
    if (typeof value !== 'object' || value === null || visited.has(value)) return;
    visited.add(value);
    if (value instanceof Map || value instanceof Set) {
      for (const inner of value instanceof Map ? [...value].flat() : value) visit(inner);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (isTooMuch()) return;
      if (STRICT_PLAIN_FIELDS.has(name)) continue;
      // A key may be the name of a person: { "Lovelace": 3 }
      if (!Array.isArray(value) && !/^([a-z_]\w*)?$/.test(name)) add(name);
      visit(inner);
    }
  };
  try {
    visit(payload);
  } catch {
    return undefined; // a getter of what a schema made, or nested too deeply
  }
  if (isTooMuch()) return undefined;
  return [...found].filter(identifies).sort((a, b) => b.length - a.length);
}

/** A single Latin letter identifies nobody; a single Han character can be a family name. */
const identifies = (text: string) => text.length > 1 || /\p{sc=Han}/u.test(text);

/**
 * What is removed from the texts of errors before they are logged.
 *
 * - `'standard'`: what is personal in the delivery, e-mail addresses, phone numbers, secrets, tokens and
 *   the credentials of URLs. Addresses of servers, dates, ids and ordinary words stay.
 * - `'strict'`: every text and number of the delivery, and all digits that could be a phone number.
 * - `'off'`: nothing.
 * - A function gets each text, and the event if it is known, and returns what is logged. If it throws,
 *   the text is withheld.
 */
export type Redact = 'standard' | 'strict' | 'off' | ((text: string, event: unknown) => string);

/** Makes a text fit for a log line: redacted, and on one line. */
export type Redactor = (text: string) => string;

/** A longer text is cut: it may quote a whole body, and searching it would take too long. */
const MAX_TEXT = 4_000;

/**
 * Creates a redactor for texts about one delivery. The errors of handlers and clients often quote their
 * input: the number that was called, or a URL with a password. Never throws.
 * @param content `undefined` if the text knows nothing of a delivery
 */
export function createRedactor(redact: Redact = 'standard', content?: DeliveryContent): Redactor {
  if (typeof redact === 'function') return withFunction(redact, content?.body);
  if (redact === 'off') return (text) => oneLine(shortened(text));
  if (redact === 'strict') return strictRedactor(content);
  return standardRedactor(content);
}

function strictRedactor(content: DeliveryContent | undefined): Redactor {
  let values: string[] | undefined | 'unread' = 'unread';
  return (text) => {
    if (values === 'unread') values = sensitiveTexts(content, Infinity);
    return redactStrictly(text, values);
  };
}

function standardRedactor(content: DeliveryContent | undefined): Redactor {
  let values: PersonalValues | undefined | 'unread' = 'unread';
  return (text) => {
    if (values === 'unread') values = personalValues(content);
    if (values === undefined) return '[withheld: the content of the delivery cannot be searched]';
    const short = shortened(text);
    const decoded = decodeEscapes(short);
    const clean = redactValues(redactPatterns(decoded), values);
    return oneLine(clean === decoded ? short : clean);
  };
}

function withFunction(redact: (text: string, event: unknown) => string, event: unknown): Redactor {
  return (text) => {
    try {
      const clean: unknown = redact(text, event);
      if (typeof clean === 'string') return oneLine(clean);
    } catch {
      // The function is the user's, and this is documented.
    }
    return '[withheld: the redact function failed]';
  };
}

/** The last word goes as well: it may be the beginning of a name. */
function shortened(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const kept = text.slice(0, MAX_TEXT).replace(/[\p{L}\p{N}\p{M}]{1,100}$/u, '');
  return `${kept}… (${String(text.length)} characters)`;
}

const MAX_ID = 200;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const redact = createRedactor();

/**
 * An id, key or event name, as log lines, hooks and spans have it: on one line, of a limited length,
 * and without what may have been made a part of it: an e-mail address, a phone number, a token.
 */
export const redactId = (id: string): string =>
  isOrdinaryId(id) ? id : redact(id.replace(UNPRINTABLE, '?')).slice(0, MAX_ID);

const ID_WORDS = /^[A-Za-z\d_]+(?:[:-][A-Za-z\d_]+)*$/;
/** The form of tokens and phone numbers, and the words before secrets and phone numbers. */
const SUSPICIOUS =
  /^\d{1,6}-\d|whsec|[rs]k[_-]|gh[opsur]_|github|glpat|npm_|xox|A(?:KIA|SIA|Iza)|pass|pwd|secret|token|api|credential|signature|cookie|authorization|(?:phone|mobile|tel|msisdn|fax|sms|whatsapp|dial|number|call)[a-z_-]{0,8}:?\d[\d-]{5}/i;

/** The redactor would not change such an id, but takes a hundred times as long. */
const isOrdinaryId = (id: string) =>
  id.length <= MAX_ID && ID_WORDS.test(id) && !SUSPICIOUS.test(id);

/**
 * A tenant's name as log lines, hooks and spans have it: of a verified delivery as it is, and
 * otherwise as an id, since anybody can send anything.
 */
export const shownTenant = (tenant: string, webhookId: string | undefined): string =>
  webhookId === undefined ? redactId(tenant) : tenant;

/** What identifies a delivery. */
interface Ids {
  tenant?: string | undefined;
  eventName?: string | undefined;
  callId?: string | undefined;
  key?: string | undefined;
  webhookId?: string | undefined;
}

/** A copy whose ids are as `redactId` makes them. */
export function withRedactedIds<T extends Ids>(identified: T): T {
  const copy: Ids = { ...identified };
  for (const name of ['eventName', 'callId', 'key', 'webhookId'] as const) {
    const id = copy[name];
    if (id !== undefined) copy[name] = redactId(id);
  }
  if (copy.tenant !== undefined) copy.tenant = shownTenant(copy.tenant, copy.webhookId);
  return copy as T;
}
