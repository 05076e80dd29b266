import type { Delivery, DeliveryState } from '../deliveries/delivery.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Simulation } from '../simulation.ts';
import type { DeliveryPage } from './view-types.ts';
import { callNameOf, deliverySummary, receiverOf } from './views.ts';

/** The query of a request for deliveries. */
export type Query = Readonly<Record<string, unknown>>;

type Test = (delivery: Delivery) => boolean;

const FIELDS = ['ruleId', 'callId', 'eventName'] as const;

/** The deliveries that match a query, the oldest first. @throws SimulatorError `invalid-input` */
export function findDeliveries(simulation: Simulation, query: Query): Delivery[] {
  const tests = [...testsOf(simulation, query), ...stateTest(query), ...placeTests(query)];
  return simulation.log.list().filter((delivery) => tests.every((test) => test(delivery)));
}

/**
 * One page of the deliveries that match, the oldest first: the latest, or those next to `before` or
 * `after`, which are numbers of deliveries.
 * @throws SimulatorError `invalid-input`
 */
export function deliveryPage(simulation: Simulation, query: Query): DeliveryPage {
  const limit = limitOf(query);
  const tests = testsOf(simulation, query);
  const inAnyState = simulation.log.list().filter((one) => tests.every((test) => test(one)));
  const [inState] = stateTest(query);
  const all = inState ? inAnyState.filter(inState) : inAnyState;
  const placed = all.filter((one) => placeTests(query).every((test) => test(one)));
  const page = query['after'] === undefined ? latest(placed, limit) : placed.slice(0, limit);
  const [first, last] = [page[0], page.at(-1)];
  const counts: Partial<Record<DeliveryState, number>> = {};
  for (const { state } of inAnyState) counts[state] = (counts[state] ?? 0) + 1;
  return {
    deliveries: page.map(deliverySummary(simulation)),
    counts,
    older: first ? all.filter(({ number }) => number < first.number).length : 0,
    newer: last ? all.filter(({ number }) => number > last.number).length : 0,
  };
}

/** How many rows a request asks for. @throws SimulatorError `invalid-input` */
export function limitOf(query: Query): number {
  return wholeNumber(query, 'limit') ?? 100;
}

/** The last rows of a list. */
export const latest = <Row>(rows: readonly Row[], limit: number): Row[] =>
  rows.slice(Math.max(0, rows.length - limit));

function wholeNumber(query: Query, name: string): number | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw new SimulatorError('invalid-input', `${name} must be a whole number.`);
}

const textOf = (query: Query, name: string): string | undefined =>
  typeof query[name] === 'string' && query[name] !== '' ? query[name] : undefined;

function stateTest(query: Query): Test[] {
  const state = textOf(query, 'state');
  return state === undefined ? [] : [(delivery) => delivery.state === state];
}

function placeTests(query: Query): Test[] {
  const before = wholeNumber(query, 'before') ?? Infinity;
  const after = wholeNumber(query, 'after') ?? -Infinity;
  return [({ number }) => number < before && number > after];
}

/** Everything but the state and the place. */
function testsOf(simulation: Simulation, query: Query): Test[] {
  const tests: Test[] = [];
  for (const name of FIELDS) {
    const wanted = textOf(query, name);
    if (wanted !== undefined) tests.push((delivery) => delivery[name] === wanted);
  }
  const url = textOf(query, 'url');
  if (url !== undefined) tests.push((one) => receiverOf(one, simulation.rules) === url);
  const from = wholeNumber(query, 'from');
  if (from !== undefined) tests.push(({ createdAt }) => createdAt >= from);
  const to = wholeNumber(query, 'to');
  if (to !== undefined) tests.push(({ createdAt }) => createdAt <= to);
  const words = textOf(query, 'q')?.trim().toLowerCase();
  if (words) tests.push((delivery) => mentions(delivery, words, simulation));
  return tests;
}

/** Whether a delivery has a text in its number, ids, event, call, body or responses. */
function mentions(delivery: Delivery, words: string, simulation: Simulation): boolean {
  const { number, _id, callId, eventName, body, attempts } = delivery;
  if (words.startsWith('#')) return String(number) === words.slice(1);
  const call = simulation.calls.find(callId);
  const texts = [
    _id,
    callId,
    eventName,
    body,
    callNameOf(call) ?? '',
    call?.calledNumber ?? '',
    call?.calledEmail ?? '',
    ...attempts.flatMap(({ request, response }) => [
      ...Object.values(request.headers),
      response?.kind === 'status' ? response.body : '',
    ]),
  ];
  return String(number) === words || texts.some((text) => text.toLowerCase().includes(words));
}
