import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import { redactEventName, sha256 } from '@call-webhooks/core/internal';

/** Longer error texts are cut: their beginning tells the cause. */
const MAX_TEXT = 1_000;
const MAX_CAUSE = 200;
/** Shorter ids occur in words by chance. */
const MIN_ID = 3;
/** Ports, SQLSTATEs and codes of services have up to five digits. A longer number is an id, or a time. */
const MAX_SHORT_NUMBER = 5;

/** What an error is about, and the ids of its event, which are left out wherever its text has them. */
export type FailedEvent = Pick<ListedDeadLetter, 'error'> &
  Partial<Pick<ListedDeadLetter, 'callId' | 'key' | 'webhookId'>>;

const HOST = String.raw`[A-Za-z\d][A-Za-z\d-]{0,62}(?:\.[A-Za-z\d-]{1,63}){0,8}`;

/** What tells one fault from another. */
const KEPT = [
  String.raw`\[[A-Z\d_]{3,40}\]`,
  String.raw`(?<=\b(?:[Ss]tatus|[Cc]ode|errno|SQLSTATE)(?: code)?[ :=]{1,3}["']?)[A-Za-z\d_]{1,24}(?!\w)`,
  // The name of a thing in code or in a database.
  String.raw`(?<=\b(?:reading|setting|property|field|column|relation|table|constraint|index|parameter|option|function|module|type) )["'\x60][\w$.-]{1,64}["'\x60]`,
  // A server, and its port.
  String.raw`(?<=\b(?:E[A-Z]{5,12}|EAI_AGAIN) |\bhttps?:\/\/)${HOST}(?::\d{1,5})?(?![\w-])`,
  String.raw`(?<![\w.-])(?:localhost|${HOST}\.[a-z]{2,24}):\d{1,5}(?!\w)`,
  String.raw`(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.]*\w)`,
  String.raw`(?<![\w:])(?:[\da-f]{1,4})?(?:::?[\da-f]{1,4}){2,8}(?!\w)`,
];

/** What may differ between two errors of one cause. */
const DIFFERENT = [
  String.raw`(?<=\bhttps?:\/\/[^\s?#]{1,200})[?#][^\s"')\],;]*`, // the query of a URL
  String.raw`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\w)`,
  String.raw`\b\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?(?!\w)`,
  // How long or how much, where in a text, and which of many.
  String.raw`(?<![\w.-])\d{1,15}(?:[.,]\d{1,9})?(?=\s?(?:[mμn]?s|sec(?:ond)?s?|min(?:ute)?s?|hours?|[kMG]?i?B|bytes?|characters?|%)(?!\w))`,
  String.raw`(?<=\b(?:position|offset|line|column|row|attempt|length|size|id|ID|call|contact|customer|user|account|lead|deal|ticket|order|record|item|agent)(?: id)?[ :=#]{1,2}|#)\d{1,15}(?![\w.-])`,
];

const QUOTED = String.raw`"[^"]{0,500}"|“[^”]{0,500}”|‘[^’]{0,500}’|\x60[^\x60]{0,500}\x60|(?<!\w)'[^']{0,500}'(?!\w)`;
const WORD_WITH_DIGIT = String.raw`(?<![\w-])[\w-]*?\d[\w-]*(?:[.,]\d[\w-]*)*`;

const PARTS = new RegExp(
  [
    `(?<kept>${KEPT.join('|')})`,
    `(?<quoted>${QUOTED})`,
    ...DIFFERENT,
    `(?<word>${WORD_WITH_DIGIT})`,
  ].join('|'),
  'g',
);

/** Codes of errors (`P2002`, `ORA-00001`, `42P01`), which services write in capitals. */
const CODE = /^(?=.*[A-Z])[A-Z\d]{1,10}(?:[_-]\d{1,6})?$/;
const SHORT_NUMBER = new RegExp(String.raw`^-?\d{1,${MAX_SHORT_NUMBER}}$`);
/** Words of technology that have a digit, and no id. */
const TECHNICAL =
  /^(?:utf-?(?:8|16|32)|latin-?1|sha-?\d{1,3}|md5|base64|x509|ipv[46]|http[123]|oauth2|s3|v\d{1,2}|u?int\d{1,3}|float\d{1,2}|[a-z]{2}-[a-z]{4,12}-\d)$/i;
/** A name in quotes: of a field, a table, a class. */
const NAME = /^[A-Za-z_$][A-Za-z_$.-]{0,63}$/;

/**
 * What an error has in common with others of the same cause: its text without ids, times, durations, long
 * numbers and quoted sentences. What tells one fault from another stays: the code of an error, a status, a
 * server and its port, the name of a field or a table.
 * @param failure a dead letter as it is listed, or any error text that is redacted
 * @returns at most 200 characters
 * @example
 * causeOf({ error: 'The CRM responded 422: no contact "c-17"' }); // 'The CRM responded 422: no contact …'
 */
export function causeOf({ error, callId, key, webhookId }: FailedEvent): string {
  let text = error.slice(0, MAX_TEXT);
  for (const id of [key, webhookId, callId])
    if (id !== undefined && id.length >= MIN_ID) text = withoutId(text, id);
  text = text.replace(PARTS, (found: string, ...rest) => {
    const groups = rest.at(-1) as Partial<Record<'kept' | 'quoted' | 'word', string>>;
    if (groups.kept !== undefined) return found;
    if (groups.quoted !== undefined) return NAME.test(found.slice(1, -1)) ? found : '…';
    return groups.word !== undefined && isTelling(found) ? found : '…';
  });
  // A list of ids is one cause, however long it is.
  const cause = text.replace(/…(?:[\s,;/]{0,3}…)+/g, '…').trim();
  return cause.length > MAX_CAUSE ? `${cause.slice(0, MAX_CAUSE - 1)}…` : cause;
}

const isTelling = (word: string) =>
  SHORT_NUMBER.test(word) || CODE.test(word) || TECHNICAL.test(word);

/** Only whole words: `c17` is no part of `c175`. */
function withoutId(text: string, id: string): string {
  const pieces = text.split(id);
  return pieces.reduce((before, after) =>
    /\w$/.test(before) || /^\w/.test(after) ? before + id + after : `${before}…${after}`,
  );
}

/** Dead letters that failed for the same cause. */
export interface DeadLetterCause {
  /** The same in all processes: 12 hexadecimal digits. */
  id: string;
  /** What their errors have in common, as `causeOf` gives it. */
  text: string;
  /** How many dead letters have it. */
  count: number;
  /** When the first failure of any of them was, as far as their histories go. */
  firstAt: Date;
  /** When the last failure of any of them was. */
  lastAt: Date;
  /**
   * The names of their events, sorted; `'unknown'` for those that have none, `'[redacted]'` for those that
   * neither look like the name of an event nor are configured in this process.
   */
  eventNames: string[];
  /** The id and the whole error of the dead letter that failed last. */
  example: { id: string; error: string };
}

/** The id of a cause, as `groupByCause` has it: 12 hexadecimal digits. @param cause as `causeOf` gives it */
export const causeId = async (cause: string): Promise<string> => (await sha256(cause)).slice(0, 12);

/**
 * Groups dead letters by the cause of their last error.
 * @returns the most frequent cause first; of two that are as frequent, the one that occurred last
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
