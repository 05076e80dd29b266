import type { Attention } from '@call-webhooks/recovery';
import type {
  DeadLetterDetail,
  DeadLetterRow,
  DeadLettersPage,
  DeliveriesPage,
  DeliveryDetail,
  DeliveryRow,
  CallTimeline,
  FailureCauses,
  Overview,
  Period,
  Session,
  Tasks,
  Times,
} from '../../src/api-types.ts';
import { outcomeTable } from '../../src/results.ts';

// One world for the tests of the page, in which no two figures are the same, so that one in the place of another shows.

/** 13:00:05 on 31 January 2026 in Oslo. */
export const NOW = Date.UTC(2026, 0, 31, 12, 0, 5);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DOCS = 'https://docs.test/';

export const SESSION: Session = {
  ...{
    name: 'Ada',
    canWrite: true,
    readOnly: false,
    signIn: '/login?to=ops',
    deadLetters: 'store',
  },
  ...{ reconcile: true, reconcileTenant: 'acme', log: true, canForget: true },
  outcomes: outcomeTable(true),
  fieldNamesDocs: `${DOCS}field-names`,
  retentionDocs: `${DOCS}retention`,
};

const NONE = {
  ...{ handled: 0, duplicate: 0, ignored: 0, 'dead-letter': 0, 'in-dead-letters': 0 },
  ...{ failed: 0, rejected: 0 },
};

/** The last point is not over yet. */
function period(length: number, step: number, more: Omit<Period, 'step' | 'points'>): Period {
  const first = Math.floor(NOW / step) - length + 1;
  const points = Array.from({ length }, (_, at) => ({ at: (first + at) * step, ...NONE }));
  Object.assign(points[length - 1] ?? {}, { handled: 30 });
  Object.assign(points[length - 3] ?? {}, { handled: 28, duplicate: 1, 'dead-letter': 4 });
  Object.assign(points[0] ?? {}, { failed: 2, rejected: 3, ignored: 5 });
  return { step, points, ...more };
}

const ATTENTION: readonly [Attention, Attention, Attention] = [
  {
    ...{ kind: 'failing', urgent: true, tenant: 'acme', eventName: 'call:completed', count: 4 },
    ...{ since: NOW - 20 * MINUTE, docs: `${DOCS}failing`, fix: 'Fix the handler of `crm`.' },
    text: '4 events of `call:completed` failed since <1769859600000>.',
  },
  {
    ...{ kind: 'failing', urgent: true, tenant: 'acme', eventName: 'call:started', count: 2 },
    ...{ since: NOW - 30 * MINUTE, docs: `${DOCS}failing`, fix: 'Fix the handler of `crm`.' },
    text: '2 events of `call:started` failed.',
  },
  {
    ...{ kind: 'slow', urgent: false, count: 7, since: NOW - 3 * HOUR, docs: `${DOCS}slow` },
    ...{ text: '7 deliveries are slow.', fix: 'Find out why.' },
  },
];

export const OVERVIEW: Overview = {
  now: NOW,
  status: {
    ...{
      at: NOW,
      line: '3 things need attention: `call:completed` fails.',
      timeZone: 'Europe/Oslo',
    },
    attention: ATTENTION,
    groups: [
      { ...ATTENTION[1], items: [ATTENTION[0], ATTENTION[1]] },
      { ...ATTENTION[2], items: [ATTENTION[2]] },
    ],
    undecided: [],
    events: [
      {
        ...{ tenant: 'acme', eventName: 'call:completed', state: 'attention' },
        ...{ arrivedAt: NOW - 3 * MINUTE, acknowledgedAt: NOW - 40 * MINUTE },
      },
      { eventName: 'call:started', state: 'arrives', arrivedAt: NOW - 70 * SECOND },
      { eventName: 'lead/created', state: 'quiet', arrivedAt: NOW - 5 * HOUR },
      { eventName: '', state: 'unknown', why: 'The log has `no` rows since <1769850000000>.' },
    ],
    notes: [{ text: '9 deliveries of `lead/created` have no handler.' }],
    tenants: ['acme', 'globex'],
  },
  health: {
    ...{ ok: true, closing: false, checkedAt: NOW - 4 * SECOND, secretIds: ['current', 'old'] },
    store: { status: 'up', durationMs: 12 },
    queue: { status: 'unknown', durationMs: 0 },
  },
  log: {
    hour: period(60, MINUTE, {
      sources: {
        webhook: {
          total: 2_000,
          results: {
            ...{ handled: 1_999, duplicate: 1, ignored: 0, 'dead-letter': 150 },
            ...{ 'in-dead-letters': 12, failed: 20, rejected: 3 },
          },
          outcomes: { handled: 1_990, queued: 9, duplicate: 1, 'dead-lettered': 150 },
        },
        redrive: {
          total: 8,
          results: { ...NONE, handled: 6, 'in-dead-letters': 2 },
          outcomes: { handled: 6, 'in-dead-letters': 2 },
        },
      },
      ...{ late: 17, handlerMs: { p50: 40, p95: 1_500 }, lagMs: { p50: 500, p95: 2_000 } },
    }),
    day: period(156, 10 * MINUTE, {
      sources: {
        queue: {
          total: 5,
          results: { ...NONE, failed: 5 },
          outcomes: { 'handler-failed': 4, 'newer-code': 1 } as object,
        },
      },
      ...{ late: 0, handlerMs: null, lagMs: null },
    }),
    processes: [
      {
        ...{ id: 'p1', host: 'web-1', pid: 41, version: '2.4.1', startedAt: NOW - 2 * HOUR },
        ...{ seenAt: NOW - 2 * SECOND, inFlight: 3, state: 'active', clockAheadMs: 7_000 },
      },
      {
        ...{ id: 'p2', host: 'web-2', pid: 42, startedAt: NOW - 3 * DAY, seenAt: NOW - HOUR },
        ...{ inFlight: 0, state: 'quiet', clockAheadMs: -90_000 },
      },
      {
        ...{ id: 'p3', host: 'web-3', pid: 43, startedAt: NOW - 4 * DAY, seenAt: NOW - HOUR + 1 },
        ...{ inFlight: 0, state: 'lost' },
      },
      {
        ...{ id: 'p4', host: 'web-4', pid: 44, startedAt: NOW - 5 * DAY, seenAt: NOW - 9 * HOUR },
        ...{ inFlight: 0, state: 'closed' },
      },
    ],
    versions: [
      { version: '2.4.1', since: Math.floor(NOW / MINUTE) * MINUTE - 9 * MINUTE, processes: 1 },
      { version: '2.3.0', since: NOW - 40 * HOUR, processes: 2 },
    ],
    secrets: [
      ...(['in-use', 'quiet', 'being-replaced', 'replaced'] as const).map((state, at) => ({
        ...{ id: `s-${state}`, isConfigured: true, verified: 1_100 + at, lastHour: 110 + at },
        ...{ lastAt: NOW - (at + 1) * 7 * MINUTE, state, others: at < 2 ? [] : ['new-1', 'new-2'] },
        tenants: [['acme', 'globex'], ['acme'], [], []][at] ?? [],
      })),
      ...(['unused', 'new-id', 'renamed', 'not-configured'] as const).map((state, at) => ({
        ...{ id: `s-${state}`, isConfigured: at < 2, verified: 0, lastHour: 0, lastAt: null },
        ...{ state, others: ['s-other'], tenants: [] },
      })),
    ],
    rowsDropped: 2,
  },
};

const at = (index: number) =>
  Math.floor(NOW / (10 * MINUTE)) * 10 * MINUTE - (6 - index) * 10 * MINUTE;

export const TIMES: Times = {
  step: 10 * MINUTE,
  points: Array.from({ length: 7 }, (_, index) => ({
    at: at(index),
    ...{ delivery: null, handler: null, store: null, lag: null },
    ...(index === 2 && { delivery: 210, handler: 220, store: 230, lag: 240 }),
  })),
  delivery: { p50: 11, p95: 210 },
  handler: { p50: 12, p95: 220 },
  store: { p50: 13, p95: 230 },
  lag: { p50: 14, p95: 240 },
  events: [
    {
      ...{ eventName: 'call:completed', runs: 31 },
      ...{ delivery: { p50: 15, p95: 250 }, handler: { p50: 16, p95: 260 } },
    },
    { eventName: '', runs: 0, delivery: { p50: 17, p95: 270 }, handler: null },
  ],
};

const row = (id: string, ago: number, more: Partial<DeliveryRow>): DeliveryRow => ({
  ...{ id, webhookId: id, process: 'p1', at: NOW - ago, durationMs: 20, source: 'webhook' },
  ...{ outcome: 'handled', result: 'handled' },
  ...more,
});

const FAILED: Partial<DeliveryRow> = {
  ...{ outcome: 'handler-failed', result: 'failed', error: 'The handler failed: No line.' },
};

export const ROWS: readonly DeliveryRow[] = [
  row('w-1', 5 * SECOND, {
    ...FAILED,
    ...{ eventName: 'call:completed', callId: 'call-1', key: 'k-1', tenant: 'acme', attempt: 2 },
    ...{ attemptsLeft: 3, handlerMs: 1_200, lagMs: 4_000, durationMs: 1_300, secretId: 'current' },
  }),
  row('w-2', 2 * MINUTE, {
    eventName: 'call:started',
    callId: 'call-1',
    late: true,
    durationMs: 0.4,
  }),
  row('w-3', 3 * HOUR, { outcome: 'queued', source: 'webhook', durationMs: 61_000 }),
  row('w-3', 3 * HOUR - 1, { outcome: 'handled', source: 'queue', process: 'p2', attempt: 1 }),
  row('w-4', 14 * HOUR, { outcome: 'replayed', result: 'rejected' }),
  row('w-5', 15 * HOUR, {
    outcome: 'in-dead-letters',
    result: 'in-dead-letters',
    source: 'redrive',
  }),
  row('w-6', 16 * HOUR, { outcome: 'ignored', result: 'ignored', source: 'reconcile' }),
];

export const DELIVERIES: DeliveriesPage = {
  deliveries: [...ROWS],
  ...{ before: 'b-1', searched: 60, searchedTo: NOW - 16 * HOUR, keptSince: NOW - 49 * HOUR },
  ...{ eventNames: ['call:completed', 'call:started'], tenants: ['acme'], versions: ['2.4.1'] },
};

const DELIVERY: DeliveryDetail = {
  deliveries: [
    ...ROWS.slice(0, 1),
    row('w-1', 9 * MINUTE, { ...FAILED, source: 'queue', error: 'The line was busy.' }),
  ],
  ...{ state: 'failed', deadLetterId: 'l-1', isLetterGone: false },
};

const FAILURES: FailureCauses = {
  causes: [
    {
      ...{ id: 'f-1', text: 'No line.', outcome: 'handler-failed', count: 6, events: 5, open: 4 },
      ...{
        eventNames: ['call:completed', 'unknown'],
        firstAt: NOW - 5 * HOUR,
        lastAt: NOW - MINUTE,
      },
    },
    {
      ...{ id: 'f-2', text: 'No key.', outcome: 'handler-failed', count: 3, events: 0, open: 0 },
      ...{ eventNames: ['unknown'], firstAt: NOW - 2 * HOUR, lastAt: NOW - HOUR },
    },
    {
      ...{
        id: 'f-3',
        text: 'No peek.',
        outcome: 'handler-failed',
        count: 2,
        events: 1,
        open: null,
      },
      ...{ eventNames: ['unknown'], firstAt: NOW - 3 * HOUR, lastAt: NOW - HOUR },
    },
    {
      ...{ id: 'f-4', text: 'Was down.', outcome: 'handler-failed', count: 1, events: 1, open: 0 },
      ...{ eventNames: ['call:started'], firstAt: NOW - 4 * HOUR, lastAt: NOW - 4 * HOUR },
    },
  ],
  ...{ failures: 12, searchedTo: NOW - 26 * HOUR },
};

export const LETTERS: readonly DeadLetterRow[] = [
  {
    ...{ id: 'l-1', reason: 'handler-failed', tenant: 'acme', webhookId: 'w-1', key: 'k-1' },
    ...{
      eventName: 'call:completed',
      callId: 'call-1',
      attempt: 5,
      attempts: 7,
      source: 'webhook',
    },
    ...{
      signedAt: NOW - 9 * MINUTE,
      deadLetterSince: NOW - 8 * MINUTE,
      failedAt: NOW - 7 * MINUTE,
    },
    ...{ error: 'No line.', claimedUntil: NOW + MINUTE },
  },
  {
    ...{ id: 'l-2', reason: 'invalid-payload', webhookId: 'w-2', attempt: 1, attempts: 1 },
    ...{
      source: 'reconcile',
      signedAt: NOW - DAY,
      deadLetterSince: NOW - DAY,
      failedAt: NOW - DAY,
    },
    error: 'The schema says no.',
  },
];

const LETTER: DeadLetterDetail = {
  ...(LETTERS[0] as DeadLetterRow),
  stack: 'at handler (crm.ts:4:2)',
  history: [
    { at: NOW - 12 * MINUTE, source: 'webhook', attempt: 1, error: 'The line was busy.' },
    { at: NOW - 8 * MINUTE, source: 'queue', attempt: 5, error: 'No line before.' },
    { at: NOW - 7 * MINUTE, source: 'redrive', attempt: 6, error: 'No line.' },
  ],
  earlierAttempts: 3,
  body: { masked: true, text: '{"toName":"•••"}', bytes: 1_234, truncated: false },
};

export const DEAD_LETTERS: DeadLettersPage = {
  ...{ letters: [...LETTERS], total: 120, oldestAt: NOW - 9 * DAY, keepFor: 30 * DAY },
  causes: [
    {
      ...{
        id: 'c-1',
        text: 'No line.',
        count: 119,
        firstAt: NOW - 9 * DAY,
        lastAt: NOW - 7 * MINUTE,
      },
      ...{
        eventNames: ['call:completed', 'call:started'],
        example: { id: 'l-1', error: 'No line.' },
      },
    },
    {
      ...{
        id: 'c-2',
        text: 'The schema says no.',
        count: 1,
        firstAt: NOW - DAY,
        lastAt: NOW - DAY,
      },
      ...{ eventNames: ['unknown'], example: { id: 'l-2', error: 'The schema says no.' } },
    },
  ],
  ...{ eventNames: ['call:completed', 'call:started'], tenants: ['acme', 'globex'] },
};

export const CALL: CallTimeline = {
  ...{ callId: 'call-1', tenant: 'acme' },
  events: [
    { eventName: 'call:started', state: 'handled', deliveries: [], isLetterGone: false },
    {
      ...{ eventName: 'call:completed', state: 'failed', isLetterGone: false },
      deliveries: [row('w-1', HOUR, { ...FAILED, attempt: 1, source: 'queue' })],
    },
    { eventName: 'call:recording-available', state: null, deliveries: [], isLetterGone: false },
    {
      ...{ eventName: 'e-dead', state: 'dead-lettered', isLetterGone: false },
      deliveries: [row('w-9', 2 * HOUR, { ...FAILED, error: 'The handler failed: Busy.' })],
      deadLetter: LETTERS[1] as DeadLetterRow,
    },
    { eventName: 'e-gone', state: 'dead-lettered', deliveries: [], isLetterGone: true },
    {
      ...{ eventName: 'e-fixed', state: 'handled', deliveries: [], isLetterGone: false },
      deadLetter: LETTERS[0] as DeadLetterRow,
    },
    {
      ...{ eventName: 'e-queued', state: 'unknown', isLetterGone: false },
      deliveries: [row('w-8', HOUR, { outcome: 'queued' })],
    },
    { eventName: 'e-unknown', state: 'unknown', deliveries: [], isLetterGone: false },
    { eventName: 'e-running', state: 'running', deliveries: [], isLetterGone: false },
  ],
};

const NO_TASKS: Tasks = {
  ...{ shared: true, redrive: null, removal: null, erasure: null, reconcile: null, waiting: 120 },
};

/** What the API answers, by path. */
export const ANSWERS = {
  'api/session': SESSION,
  'api/overview': OVERVIEW,
  'api/times': TIMES,
  'api/deliveries': DELIVERIES,
  'api/deliveries/w-1': DELIVERY,
  'api/failures': FAILURES,
  'api/calls/call-1': CALL,
  'api/dead-letters': DEAD_LETTERS,
  'api/dead-letters/l-1': LETTER,
  'api/tasks': NO_TASKS,
};
