import * as z from 'zod/mini';
import type { WebhookEvent, WebhookEventState } from '../events/webhook-event.ts';
import { checked, text } from '../errors.ts';
import type { Simulation } from '../simulation.ts';

const QUERY = z.object({
  state: z.optional(text()),
  ruleId: z.optional(text()),
  callId: z.optional(text()),
  eventName: z.optional(text()),
  /** Where the last attempt went, or the first will go. */
  url: z.optional(text()),
  /** Words that an event or a call has somewhere; `#12` is the number of an event. */
  q: z.optional(text()),
  /** How many to list: the latest that match. */
  limit: z.pipe(
    z._default(text().check(z.regex(/^\d{1,15}$/, 'a whole number')), '100'),
    z.transform(Number),
  ),
});

/** Which events or calls are asked for. A field that is missing or empty matches all. */
export type Query = z.output<typeof QUERY>;

/** The query of a request. @throws SimulatorError `invalid-input` */
export const queryOf = (given: unknown): Query => checked(QUERY, given);

/** The last rows of a list. */
export const latest = <Row>(rows: readonly Row[], limit: number): Row[] =>
  rows.slice(Math.max(0, rows.length - limit));

/** The events that match, the oldest first, and the number in each state that match the rest. */
export function search(
  simulation: Simulation,
  query: Query,
): { found: WebhookEvent[]; counts: Partial<Record<WebhookEventState, number>> } {
  const { state } = query;
  const inAnyState = simulation.log.list().filter((one) => matches(simulation, query, one));
  const counts: Partial<Record<WebhookEventState, number>> = {};
  for (const one of inAnyState) counts[one.state] = (counts[one.state] ?? 0) + 1;
  return { found: state ? inAnyState.filter((one) => one.state === state) : inAnyState, counts };
}

/** Everything but the state. */
function matches(simulation: Simulation, query: Query, event: WebhookEvent): boolean {
  const words = query.q?.trim().toLowerCase();
  return (
    (['ruleId', 'callId', 'eventName'] as const).every(
      (name) => !query[name] || query[name] === event[name],
    ) &&
    (!query.url || query.url === receiverOf(event, simulation)) &&
    (!words || mentions(event, words, simulation))
  );
}

/** Whether an event has some words in its number, ids, name, call, body or responses. */
function mentions(event: WebhookEvent, words: string, { calls }: Simulation): boolean {
  const { number, _id, callId, eventName, body, attempts } = event;
  if (words.startsWith('#')) return String(number) === words.slice(1);
  const call = calls.find(callId);
  const texts = [
    ...[_id, callId, eventName, body, call?.calledName, call?.calledNumber, call?.calledEmail],
    ...attempts.flatMap(({ request, response }) => [
      ...Object.values(request.headers),
      response?.kind === 'status' ? response.body : '',
    ]),
  ];
  return String(number) === words || someIncludes(texts, words);
}

const someIncludes = (texts: readonly (string | undefined)[], words: string): boolean =>
  texts.some((one) => one?.toLowerCase().includes(words));

/** Where the last attempt of an event went, or the first will go. */
export function receiverOf(
  { ruleId, actionId, attempts }: WebhookEvent,
  { rules }: Simulation,
): string | undefined {
  const actions = rules.find(ruleId)?.actions;
  return attempts.at(-1)?.request.url ?? actions?.find(({ _id }) => _id === actionId)?.url;
}
