import type {
  ActivityEvent,
  ActivityEventFields,
  EventSearchTree,
  FromTerm,
  NamedTerm,
  ToTerm,
} from '@call-webhooks/client';
import type { Directory, Sequence, Template, User } from './directory.ts';
import type { Activity, Message, Messages } from './messages.ts';

const DAY_MS = 86_400_000;

/** An event and its message. */
export interface MessageEvent {
  readonly _id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly action: ActivityEvent['action'];
  readonly message: Message;
  /** The titles of all objects of the message that were clicked or downloaded. */
  readonly objectTitles: readonly string[];
  /** Builds the record: only for the events of a page. */
  record(): ActivityEvent;
}

/**
 * All events of `GET /v1/events` (spec, "Activity event record"): the activities, and a synthetic
 * `unopened` event for each message that has recipients who did not open it.
 */
export function activityEvents(messages: Messages, directory: Directory): MessageEvent[] {
  const opened = new Map<string, Set<string>>();
  const titles = new Map<string, string[]>();
  const titlesOf = (messageId: string): string[] => {
    const known = titles.get(messageId) ?? [];
    titles.set(messageId, known);
    return known;
  };
  const events = messages.activities().map((activity): MessageEvent => {
    const { _id, messageId, at, action, recipientEmail, object } = activity;
    const message = messages.get(messageId);
    if (action === 'opened') {
      const people = opened.get(messageId) ?? new Set();
      opened.set(messageId, people.add(recipientEmail));
    }
    const objectTitles = titlesOf(messageId);
    if (object) objectTitles.push(object.title);
    const record = () => recordOf(activity, message, directory);
    return { _id, time: at, action, message, objectTitles, record };
  });
  for (const message of messages.list()) {
    const by = opened.get(message._id) ?? new Set();
    if (message.recipients.every(({ email }) => by.has(email))) continue;
    const record = unopened(message, directory, by);
    const { _id, timestamp: time, action } = record;
    const objectTitles = titlesOf(message._id);
    events.push({ _id, time, action, message, objectTitles, record: () => record });
  }
  return events;
}

function recordOf(activity: Activity, message: Message, directory: Directory): ActivityEvent {
  const { _id, at, recipientEmail, action, actionName, device, location, object } = activity;
  return {
    ...fieldsOf(message, directory, recipientEmail),
    _id,
    timestamp: at,
    action,
    actionName,
    ...(device && { device }),
    ...(location && { location }),
    ...(object && { object }),
  } as ActivityEvent;
}

function unopened(message: Message, directory: Directory, by: ReadonlySet<string>): ActivityEvent {
  return {
    ...fieldsOf(message, directory, message.recipients[0]?.email ?? ''),
    _id: `${message._id}:unopened`,
    timestamp: message.sentAt,
    action: 'unopened',
    // The spec shows no field for "whether any has opened".
    actionName: by.size === 0 ? 'Opened by nobody' : 'Opened by some',
  };
}

function fieldsOf(
  message: Message,
  directory: Directory,
  recipientEmail: string,
): Omit<ActivityEventFields, '_id' | 'timestamp' | 'actionName'> {
  const { threadId, subject, senderId, recipients } = message;
  return {
    threadId,
    subject,
    userId: senderId,
    teamIds: directory.user(senderId).teamIds,
    recipientEmail,
    recipientName: recipients.find(({ email }) => email === recipientEmail)?.name ?? null,
    recipients: recipients.map(({ email, name }) => ({ email, name })),
  };
}

type EventTest = (event: MessageEvent) => boolean;

/**
 * Compiles a search of `GET /v1/events` (spec, "Search string rules"). An event must satisfy every
 * part of it, and any one of several `to:` operators. Days are days in UTC.
 * @guess Searching activity events
 * @param untilIncludesDay whether `until:` includes its day
 */
export function eventMatcher(
  tree: EventSearchTree,
  directory: Directory,
  untilIncludesDay: boolean,
): EventTest {
  const { text, subject, to, template, sequence, from, type } = tree;
  const { workspace } = directory;
  const since = tree.since === undefined ? -Infinity : Date.parse(tree.since);
  const until =
    tree.until === undefined ? Infinity : Date.parse(tree.until) + (untilIncludesDay ? DAY_MS : 0);
  const tests: EventTest[] = [({ time }) => time >= since && time < until];
  if (type !== undefined) tests.push(({ action }) => action === type);
  if (text !== undefined) tests.push((event) => matchesText(event, text));
  if (subject !== undefined) tests.push(({ message }) => message.subject === subject);
  if (to.length > 0) tests.push(({ message }) => to.some((term) => matchesTo(message, term)));
  if (template) tests.push(hasId('templateId', templateIds(template, workspace.templates)));
  if (sequence) tests.push(hasId('sequenceId', sequenceIds(sequence, workspace.sequences)));
  if (from) tests.push(hasId('senderId', senderIds(from, directory)));
  return (event) => tests.every((test) => test(event));
}

const hasId =
  (field: 'templateId' | 'sequenceId' | 'senderId', ids: ReadonlySet<string>): EventTest =>
  ({ message: { [field]: id } }) =>
    id !== undefined && ids.has(id);

const includes = (whole: string, part: string) => whole.toLowerCase().includes(part.toLowerCase());

/**
 * Plain text: every word occurs in the subject, in the name or address of a recipient, or in the
 * title of an object that was clicked or downloaded.
 */
function matchesText({ message, objectTitles }: MessageEvent, text: string): boolean {
  const { subject, recipients } = message;
  const people = recipients.flatMap(({ name, email }) => [name ?? '', email]);
  const searched = [subject, ...people, ...objectTitles];
  return text.split(' ').every((word) => searched.some((whole) => includes(whole, word)));
}

/**
 * `to:`, in to, cc and bcc: an exact address, a domain, or a part of the display name. A value with
 * a dot, such as `Acme.Inc`, is read both as a domain and as a name.
 */
function matchesTo({ recipients }: Message, { kind, value }: ToTerm): boolean {
  return recipients.some(({ email, name }) => {
    const address = email.toLowerCase();
    if (kind === 'email') return address === value.toLowerCase();
    const inName = name !== null && includes(name, value);
    return inName || (kind === 'domain' && address.endsWith(`@${value.toLowerCase()}`));
  });
}

/** `template:`: by name or title. Without a unique exact match, the first that contains the text. */
function templateIds(term: NamedTerm, all: readonly Template[]): ReadonlySet<string> {
  if (term.kind === 'any') return idsOf(all);
  return idsOf(bestMatch(term.value, all, ({ name, title }) => [name, title]));
}

/** `sequence:`: by `_id` or name. Without an exact match, the first that contains the text. */
function sequenceIds(term: NamedTerm, all: readonly Sequence[]): ReadonlySet<string> {
  if (term.kind === 'any') return idsOf(all);
  const byId = all.filter(({ _id }) => _id === term.value);
  return idsOf(byId.length > 0 ? byId : bestMatch(term.value, all, ({ name }) => [name]));
}

/** `from:`: the users who may have sent a message. `myself` is the owner of the API token. */
function senderIds(term: FromTerm, directory: Directory): ReadonlySet<string> {
  if (term.kind === 'myself') return idsOf([directory.user()]);
  const wanted = term.value.toLowerCase();
  const { users, teams } = directory.workspace;
  const team = teams.find(({ name }) => name.toLowerCase() === wanted);
  const isSender = (user: User) =>
    term.kind === 'email'
      ? user.email.toLowerCase() === wanted
      : team !== undefined && user.teamIds.includes(team._id);
  return idsOf(users.filter(isSender));
}

function bestMatch<Named>(
  value: string,
  all: readonly Named[],
  namesOf: (one: Named) => readonly string[],
): Named[] {
  const wanted = value.toLowerCase();
  const exact = all.filter((one) => namesOf(one).some((name) => name.toLowerCase() === wanted));
  if (exact.length === 1) return exact;
  const first = all.find((one) => namesOf(one).some((name) => includes(name, wanted)));
  return first ? [first] : [];
}

const idsOf = (all: readonly { _id: string }[]) => new Set(all.map(({ _id }) => _id));
