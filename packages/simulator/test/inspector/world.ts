import type {
  AttemptSummary,
  Call,
  Rule,
  StateView,
  WebhookEventSummary,
  WebhookEventView,
} from '@call-webhooks/simulator/control-api';
import type { InChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector, type Inspector } from './open-inspector.ts';
import type { testResources } from '../support/test-resources.ts';

/** The time of its clock: noon. */
const NOW = Date.UTC(2026, 0, 31, 12);
const SENT_AT = NOW - 90_000;
const CRM = 'http://127.0.0.1:3000/crm';
const ARCHIVE = 'http://127.0.0.1:4000/archive';

const action = (id: string, url: string, more: object = {}) =>
  ({ _id: id, type: 'webhook', url, signed: true, ...more }) as const;

const RULES: readonly Rule[] = [
  {
    ...{ _id: 'r1', kind: 'rule', name: 'To the CRM', trigger: 'call:started', scope: 'user' },
    ...{ ownerId: 'u1', state: 'active', actions: [action('a1', CRM)] },
  },
  {
    ...{ _id: 'r2', kind: 'rule', name: 'Archive', trigger: 'call:completed', ownerId: 'u1' },
    ...{ scope: 'workspace', state: 'paused', pauseReason: 'responded-404' },
    pausedAt: NOW - 60_000,
    actions: [
      action('a2', ARCHIVE),
      action('a3', `${ARCHIVE}/2`, { payload: { id: '{{callId}}' } }),
      action('a4', ARCHIVE, { signed: false }),
    ],
  },
  {
    ...{ _id: 'r3', kind: 'recording-webhook', name: 'Call recording webhook', ownerId: 'u1' },
    ...{ trigger: 'call:recording-available', scope: 'workspace' },
    ...{ state: 'paused', pauseReason: 'by-hand', pausedAt: NOW - 120_000 },
    actions: [action('a5', 'https://localhost:4443/tapes')],
  },
  {
    ...{ _id: 'r4', kind: 'rule', name: 'Nowhere', trigger: 'call:completed', scope: 'user' },
    ...{ ownerId: 'u1', state: 'paused', pauseReason: 'last-attempt-failed' },
    ...{ pausedAt: NOW - 180_000, actions: [] },
  },
] as const;

const call = (id: string, ago: number, more: Partial<Call>): Call => ({
  ...{ _id: id, state: 'ongoing', placedBy: 'u1', fromPhoneNumber: {}, recorded: true },
  ...{ calledNumber: `+1555010${id.slice(1)}`, createdAt: NOW - ago, dialedAt: NOW - ago },
  ...more,
});
const ended = (after: number, ago: number) =>
  ({ state: 'ended', endedAt: NOW - ago + after }) as const;

const CALLS: readonly Call[] = [
  call('c1', 600_000, { calledName: 'Ida Holm', ...ended(65_000, 600_000), recorded: false }),
  call('c2', 500_000, { calledName: 'Ola Berg', ...ended(5_000, 500_000) }),
  call('c3', 4_000_000, {
    ...{ calledName: 'Noor Haddad', ...ended(3_660_000, 4_000_000) },
    // It was placed without a recording, which was published by hand.
    ...{ recorded: false, recording: { startedAt: NOW, durationSeconds: 3_600, availableAt: NOW } },
  }),
  call('c4', 30_000, { plannedMs: 45_000 }),
  call('c5', 10_000, { calledName: 'Cy Abel' }),
];

type Ended = Partial<AttemptSummary>;
const attempt = (number: number, url: string, how: Ended): AttemptSummary => ({
  ...{ number, kind: 'scheduled', startedAt: SENT_AT + number * 1_000, chaos: [], url },
  ...{ endedAt: SENT_AT + number * 1_000, tookMs: 10 + number, dropped: false },
  ...how,
});
export const ACKNOWLEDGED = { next: 'acknowledged' } as const;
export const retry = (reason: 'status' | 'timeout' | 'connection-error') =>
  ({ next: 'retry', reason }) as const;
export const paused = (reason: 'responded-404' | 'last-attempt-failed') =>
  ({ next: 'paused', reason }) as const;
export const status = (code: number) => ({ kind: 'status', status: code }) as const;
export const error = (code: string) => ({ kind: 'connection-error', code }) as const;

type Given = Pick<WebhookEventSummary, 'state'> & Partial<WebhookEventSummary>;
export const event = (
  number: number,
  how: Given,
  ended: readonly Ended[] = [],
): WebhookEventSummary => ({
  ...{ _id: `e${String(number)}`, number, ruleId: 'r1', actionId: 'a1', callId: 'c1' },
  ...{ eventName: 'call:started', createdAt: SENT_AT, url: CRM, ruleName: 'To the CRM' },
  callName: 'Ida Holm',
  attempts: ended.map((one, at) => attempt(at + 1, how.url ?? CRM, one)),
  ...how,
});
export const waiting = (seconds: number) =>
  ({ state: 'waiting', nextAttemptAt: NOW + seconds * 1_000 }) as const;
const failedOnce = { response: status(500), result: retry('status') };

/** An event in each of its states, for each of its reasons, the oldest first. */
const EVENTS: readonly WebhookEventSummary[] = [
  event(1, { state: 'acknowledged' }, [
    { response: status(200), result: ACKNOWLEDGED, outcome: 'handled' },
  ]),
  event(2, { state: 'acknowledged' }, [
    failedOnce,
    { response: { kind: 'timeout' }, result: retry('timeout') },
    { response: status(204), result: ACKNOWLEDGED, tookMs: 0.4 },
  ]),
  event(3, { state: 'in-flight', callId: 'c5', callName: 'Cy Abel' }, [
    { tookMs: undefined as never },
  ]),
  event(4, waiting(59)),
  event(5, { ...waiting(8), copyOf: 'e1', copiedBy: 'duplicate' }),
  event(6, { ...waiting(240), copyOf: 'e1', copiedBy: 'concurrentDuplicates' }, [
    { response: { kind: 'timeout' }, result: retry('timeout'), tookMs: 1_250 },
  ]),
  event(7, waiting(292), [
    {
      ...{ response: error('ECONNRESET'), result: retry('connection-error'), dropped: true },
      ...{ outcome: 'handled', chaos: ['dropResponse', 'replay'] as const },
    },
    { number: 1, kind: 'replay', response: status(409), chaos: ['replay'] },
  ]),
  event(8, waiting(300), [{ response: error('ECONNREFUSED'), result: retry('connection-error') }]),
  event(9, waiting(0), [{ response: status(503), result: retry('status'), outcome: 'overloaded' }]),
  event(10, { state: 'failed', url: ARCHIVE, ruleId: 'r2', actionId: 'a2', ruleName: 'Archive' }, [
    { response: status(404), result: paused('responded-404') },
  ]),
  event(11, { state: 'failed', ruleId: 'r4', actionId: 'a9', ruleName: 'Nowhere' }, [
    failedOnce,
    { response: error('ENOTFOUND'), result: paused('last-attempt-failed') },
  ]),
  event(12, { state: 'held' }),
  event(13, { state: 'dropped', droppedBecause: 'rule-paused' }),
  event(14, {
    ...{ state: 'dropped', droppedBecause: 'action-removed', url: undefined as never },
    ...{ callId: 'c9', callName: undefined as never, ruleName: undefined as never, ruleId: 'r9' },
  }),
  event(
    15,
    { state: 'acknowledged', copyOf: 'e10', copiedBy: 'resend', byHand: true, callId: '' },
    [
      ...Array.from({ length: 13 }, () => failedOnce),
      { response: status(202), result: ACKNOWLEDGED, tookMs: 61_000 },
    ],
  ),
];

/** A simulator in which everything is there that the page can show. */
export const WORLD: StateView = {
  seed: 'the seed',
  url: 'http://127.0.0.1:4010',
  policy: { maxAttempts: 6, retryEvery: 300_000, acknowledgeWithin: 30_000, whilePaused: 'drop' },
  clock: { mode: 'manual', now: NOW, nextDueAt: NOW + 8_000, inFlight: 1 },
  counts: {
    calls: 107,
    events: { acknowledged: 5, 'in-flight': 1, waiting: 1_206, failed: 2, held: 1, dropped: 2 },
    mails: 3,
    messages: 0,
  },
  chaos: {
    ...{ duplicate: 0, concurrentDuplicates: 0.05, reorder: 0.1, dropResponse: 0.25, slowBody: 1 },
    ...{ wrongSecret: 0, oldSecret: 0, clockSkew: 0, replay: 0.333, tamperedBody: 0 },
  },
  rules: RULES,
  calls: CALLS,
  events: EVENTS,
  matching: { acknowledged: 3, 'in-flight': 1, waiting: 106, failed: 2, held: 1, dropped: 2 },
  outbox: ['first', 'second'].map((name, at) => ({
    ...{ _id: `m${String(at)}`, sentAt: NOW - 60_000 + at * 1_000, ruleId: 'r2' },
    ...{
      to: ['ben@x.example', 'cleo@x.example'],
      subject: `The ${name}`,
      text: `Its ${name} text`,
    },
  })),
};

/** An event with what its attempts sent and got. */
function withBodies(summary: WebhookEventSummary): WebhookEventView {
  return {
    ...summary,
    body: '{"eventName":"call:started"}',
    attempts: summary.attempts.map(({ response, ...rest }) => ({
      ...rest,
      request: {
        url: rest.url,
        headers: {
          'X-Number': `it's '${rest.kind}' ${String(rest.number)}`,
          'Content-Type': 'application/json',
          'Content-Length': '28',
        },
        body: `{"eventName":"call:started","note":"it's $5 \\" \`x\`, 'isn't it"}`,
      },
      ...(response && {
        response:
          response.kind === 'status'
            ? { ...response, headers: {}, body: `body ${String(rest.number)}`, truncated: false }
            : response,
      }),
      ...(rest.dropped && {
        droppedResponse: {
          ...{ kind: 'status', status: 200, headers: {}, body: 'lost', truncated: true },
        } as const,
      }),
    })),
  };
}

interface InspectorOfWorld extends Inspector {
  /** What the page asks for, the state and one event after the other: paths below `/_sim`. */
  readonly reads: string[];
  /** Changes the world. The page hears of a change, and reads the state again. */
  become(changes: Partial<StateView>): Promise<void>;
}

/** The page of a simulator whose state and whose events are those of the world. */
export async function openWithWorld(
  chromium: InChromium,
  open: ReturnType<typeof testResources>,
  ...options: Parameters<typeof openInspector> extends [unknown, unknown, ...infer More]
    ? More
    : never
): Promise<InspectorOfWorld> {
  const simulator = await open.simulator();
  const inspector = await openInspector(chromium, simulator, ...options);
  const { page } = inspector;
  let world = WORLD;
  const reads: string[] = [];
  await page.route(/\/_sim\/(?:state\?|events\/e\d+$)/, (route) => {
    const path = route.request().url().split('/_sim')[1]!;
    reads.push(path);
    const shown = world.events.find(({ _id }) => path === `/events/${_id}`);
    return route.fulfill({ json: shown ? withBodies(shown) : world });
  });
  await page.reload();
  await page.locator('.event-row').first().waitFor();
  return {
    ...inspector,
    reads,
    async become(changes) {
      world = { ...world, ...changes };
      const read = page.waitForResponse(/\/_sim\/state\?/);
      simulator.chaos.set({});
      await read;
    },
  };
}
