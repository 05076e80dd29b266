import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import { redactEventName, sha256 } from '@call-webhooks/core/internal';

/** Of longer error texts, the beginning and the end are read: the middle is usually a quotation. */
const MAX_TEXT = 2_000;
const MAX_CAUSE = 400;
/** Shorter ids occur in words by chance. */
const MIN_ID = 3;
/** Ports, SQLSTATEs and codes of services have up to five digits. A longer number is an id, or a time. */
const MAX_SHORT_NUMBER = 5;

/** What an error is about, and the ids of its event, which are left out wherever its text has them. */
export type FailedEvent = Pick<ListedDeadLetter, 'error'> &
  Partial<Pick<ListedDeadLetter, 'callId' | 'key' | 'webhookId'>>;

/** A choice of words, each of which may begin a sentence. */
const words = (list: string) =>
  `(?:${list
    .split(' ')
    .map((word) => `[${word[0]?.toUpperCase() ?? ''}${word[0] ?? ''}]${word.slice(1)}`)
    .join('|')})`;

const HOST = String.raw`[A-Za-z\d][A-Za-z\d-]{0,62}(?:\.[A-Za-z\d-]{1,63}){0,8}`;
const QUOTED = String.raw`"[^"]{0,500}"|“[^”]{0,500}”|‘[^’]{0,500}’|\x60[^\x60]{0,500}\x60|(?<!\w)'[^']{0,500}'(?!\w)`;

/** Stand before the name of a thing in code, in a database or in a network. */
const NAMED = words(
  'reading setting property field column relation table constraint index key parameter argument option ' +
    'function method module type schema database role collection bucket queue topic host server',
);

/** Stand before the id or the number of one of many things. */
const NUMBERED = words(
  'position offset line column col row index attempt length size duration id call contact customer user ' +
    'account lead deal ticket order record item agent job task process pid thread transaction session ' +
    'message request campaign',
);

/** Stand after a number that says how long or how much. */
const UNITS =
  '[mμn]?s|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|[kMG]?i?B|bytes?|characters?|rows?|records?|items?|times|attempts?|requests?|%';

/** What tells one fault from another. */
const KEPT = [
  String.raw`\[[A-Z\d_]{3,40}\]`,
  String.raw`(?<=\b(?:[Ss]tatus|[Cc]ode|errno|SQLSTATE)(?: code)?["']?[ :=]{1,3}["']?)-?[A-Za-z\d_]{1,24}(?!\w)`,
  String.raw`\b0x[\dA-Fa-f]{1,8}(?!\w)`,
  // A server and its port, also as Prisma quotes them.
  String.raw`\x60${HOST}\x60:\x60\d{1,5}\x60`,
  String.raw`(?<=\b(?:E[A-Z]{5,12}|EAI_AGAIN) |\b[a-z][a-z\d+.-]{1,20}:\/\/)${HOST}(?::\d{1,5})?(?![\w-])`,
  String.raw`(?<![\w.-])(?:localhost|${HOST}\.[a-z]{2,24}):\d{1,5}(?!\w)`,
  String.raw`(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.]*\w)`,
  String.raw`(?<![\w:])(?=[\da-f:]{0,40}::|(?:[\da-f]{1,4}:){7})[\da-f:]{2,39}(?![\w:])`,
  String.raw`(?<=\b${NAMED}s?(?: name)?:? \(?)(?:["'\x60][\w$.-]{1,64}["'\x60]|[A-Za-z_$][\w$.-]{0,63})`,
];

/** What may differ between two errors of one cause. */
const DIFFERENT = [
  String.raw`(?<=\b[a-z]{2,20}:\/\/[^\s?#]{1,200})[?#][^\s"')\],;]*`, // the query of a URL
  // A date, a time, or both.
  String.raw`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\w)`,
  String.raw`\b(?:[A-Z][a-z]{2}, )?\d\d? [A-Z][a-z]{2} \d{4}(?: \d\d:\d\d:\d\d(?: [A-Z]{3})?)?(?!\w)`,
  String.raw`\b\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?(?!\w)`,
  // Values that were rejected.
  String.raw`(?<=\b(?:[Ee]ntry|[Vv]alue|[Ii]nput|syntax for type [\w ]{1,40}:) )(?:${QUOTED})`,
  String.raw`"[^"]{0,500}"(?:\.{3})?(?= is not valid JSON)`,
  String.raw`(?<=\)=\()[^)]{0,500}(?=\))`,
  // How long or how much, where in a text, and which of many.
  String.raw`(?<![\w.-])\d{1,15}(?:[.,]\d{1,9})?(?=\s?(?:${UNITS})(?!\w))`,
  String.raw`(?<=\b${NUMBERED}(?: id)?[ :=#]{1,2}|#)\d{1,15}(?![\w.-])`,
  // A part of a path: contacts/17.
  String.raw`(?<=(?<!\bHTTP|\btcp|\budp)(?<=[A-Za-z][\w.-]{0,60})\/)\d{1,15}(?![\w.-])`,
];

const WORD_WITH_DIGIT = String.raw`(?<![\w-])[\w-]*?\d[\w-]*(?:[.,]\d?[\w-]+)*`;

const PARTS = new RegExp(
  [
    ...DIFFERENT,
    `(?<kept>${KEPT.join('|')})`,
    `(?<quoted>${QUOTED})`,
    `(?<word>${WORD_WITH_DIGIT})`,
  ].join('|'),
  'g',
);

/** Codes of errors (`P2002`, `ORA-00001`, `42P01`, `AADSTS700016`), which services write in capitals. */
const CODE = /^(?=.*[A-Z])(?:[A-Z\d]{1,10}|[A-Z]{3,12}\d{1,7})(?:[_-]\d{1,6})?$/;
const SHORT_NUMBER = new RegExp(String.raw`^-?\d{1,${MAX_SHORT_NUMBER}}$`);
/** Words of technology that have a digit, and no id. */
const TECHNICAL =
  /^(?:utf-?(?:8|16|32)|latin-?1|sha-?\d{1,3}|md5|base64|x509|ipv[46]|http[123]|oauth2|s3|v\d{1,2}|u?int\d{1,3}|float\d{1,2}|[a-z]{2}-[a-z]{4,12}-\d)$/i;
/** A name in quotes: of a field, a table, a class. */
const NAME = /^[A-Za-z_$][A-Za-z_$.-]{0,63}$/;
/** A part of a name that has a number. An id has more digits, or digits between single letters. */
const PART_OF_NAME =
  /^(?:[A-Za-z$]{2,}(?:\d{1,2}[A-Za-z$]{2,})*\d{0,2}|[A-Za-z$]|\d{1,2}|(?:19|20)\d\d)$/;
/** An id of one of many things: `call-17`. */
const NUMBERED_ID = new RegExp(String.raw`^${NUMBERED}s?[-_]\d{1,15}$`);
const HEX_ID = /^(?=.*\d)[\da-f]{8,}$/;
/** A path or a URL in quotes is read as one without. */
const PATH = /^(?:[a-z][a-z\d+.-]{1,20}:\/\/|\.{0,2}\/|[A-Z]:\\)\S*$/;

/**
 * Returns the text that an error shares with other errors of the same cause: without ids, times, durations, long
 * numbers and quoted sentences. What distinguishes causes stays: an error code, a status, a server and its port, the
 * name of a field or a table.
 * @param failure a dead letter as `list` returns it, or any redacted error text
 * @returns at most 400 characters; a longer text loses its middle
 * @example
 * causeOf({ error: 'The CRM responded 422: no contact "c-17"' }); // 'The CRM responded 422: no contact …'
 */
export function causeOf({ error, callId, key, webhookId }: FailedEvent): string {
  let text = withoutMiddle(error, MAX_TEXT);
  for (const id of [key, webhookId, callId])
    if (id !== undefined && id.length >= MIN_ID) text = withoutId(text, id);
  // A list of ids is one cause, however long it is.
  const cause = withoutIds(text)
    .replace(/…(?:[\s,;/]{0,3}…)+/g, '…')
    .trim();
  return withoutMiddle(cause, MAX_CAUSE);
}

const withoutIds = (text: string): string =>
  text.replace(PARTS, (found: string, ...rest) => {
    const groups = rest.at(-1) as Partial<Record<'kept' | 'quoted' | 'word', string>>;
    if (groups.kept !== undefined) return found;
    if (groups.quoted !== undefined) return quoted(found);
    return groups.word !== undefined && isTelling(found) ? found : '…';
  });

function quoted(found: string): string {
  const inner = found.slice(1, -1);
  if (PATH.test(inner)) return `${found.slice(0, 1)}${withoutIds(inner)}${found.slice(-1)}`;
  const isName = NAME.test(inner) || (/[A-Za-z]/.test(inner) && isTelling(inner));
  return isName ? found : '…';
}

const isTelling = (word: string) =>
  SHORT_NUMBER.test(word) || CODE.test(word) || TECHNICAL.test(word) || isNumberedName(word);

/** That of a field (`address1`), a table (`leads_2026`), a server (`node-7.crm.local`). */
const isNumberedName = (word: string) =>
  /^(?=.*[A-Za-z]{2})[A-Za-z_$]/.test(word) &&
  !NUMBERED_ID.test(word) &&
  !HEX_ID.test(word) &&
  word.split(/[._-]+/).every((part) => part === '' || PART_OF_NAME.test(part));

/** The code of an error and its cause stand at the end of a long text. */
function withoutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.floor(length / 3);
  return `${text.slice(0, length - end - 1)}…${text.slice(-end)}`;
}

/** Only whole words: `c17` is no part of `c175`. */
function withoutId(text: string, id: string): string {
  const pieces = text.split(id);
  return pieces.reduce((before, after) =>
    /\w$/.test(before) || /^\w/.test(after) ? before + id + after : `${before}…${after}`,
  );
}

/** A group of dead letters whose last errors have the same cause. */
export interface DeadLetterCause {
  /** The same in all processes: 12 hexadecimal digits. */
  id: string;
  /** What their errors have in common, as `causeOf` gives it. */
  text: string;
  /** How many dead letters have it. */
  count: number;
  /** When the first of them failed for the first time, as far as their histories reach. */
  firstAt: Date;
  /** When one of them failed most recently. */
  lastAt: Date;
  /**
   * The names of their events, sorted: `'unknown'` for letters without a name, and `'[redacted]'` for names that
   * neither look like the name of an event nor are configured in this process.
   */
  eventNames: string[];
  /** The id and the whole error of the dead letter that failed last. */
  example: { id: string; error: string };
}

/** Returns the id of a cause, as in `groupByCause`: 12 hexadecimal digits. @param cause the text that `causeOf` returns */
export const causeId = async (cause: string): Promise<string> => (await sha256(cause)).slice(0, 12);

/**
 * Groups dead letters by the cause of their last error.
 * @returns the most frequent cause first; of equally frequent causes, the most recent one first
 */
export async function groupByCause(
  letters: Iterable<
    FailedEvent & Pick<ListedDeadLetter, 'id' | 'eventName' | 'failedAt' | 'history'>
  >,
): Promise<DeadLetterCause[]> {
  const groups = new Map<string, DeadLetterCause & { names: Set<string> }>();
  for (const letter of letters) {
    const { id, error, eventName = 'unknown', failedAt, history } = letter;
    const text = causeOf(letter);
    const firstAt = history[0]?.at ?? failedAt;
    const example = { id, error };
    let group = groups.get(text);
    if (!group) {
      const names = new Set<string>();
      const of = { id: await causeId(text), text, count: 0, eventNames: [], names };
      groups.set(text, (group = { ...of, firstAt, lastAt: failedAt, example }));
    }
    group.count += 1;
    group.names.add(redactEventName(eventName));
    if (firstAt < group.firstAt) group.firstAt = firstAt;
    if (failedAt >= group.lastAt) Object.assign(group, { lastAt: failedAt, example });
  }
  return [...groups.values()]
    .map(({ names, ...group }) => ({ ...group, eventNames: [...names].sort() }))
    .sort((one, other) => other.count - one.count || Number(other.lastAt) - Number(one.lastAt));
}
