import { parseEventSearch } from '@call-webhooks/client';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod/mini';
import { createHash, timingSafeEqual } from 'node:crypto';
import { activityEvents, eventMatcher } from '../activity/events.ts';
import type { Call } from '../calls/call.ts';
import { callBody } from '../calls/payloads.ts';
import { checked, Refusal, SimulatorError } from '../errors.ts';
import type { Settings } from '../options.ts';
import { omit } from '../records.ts';
import type { Action } from '../rules/rule.ts';
import type { ActionInput } from '../rules/rules.ts';
import type { Simulation } from '../simulation.ts';
import { recordingRoute } from './recording.ts';

/** The service's REST API (spec, "Endpoints"), behind `X-API-Token`. */
export function restApi(app: FastifyInstance, simulation: Simulation, apiToken: string): void {
  const { rateLimit, wallClock } = simulation.settings;
  const secondsToWait = rateLimit ? rateLimiter(rateLimit, wallClock) : () => 0;

  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    if (!isToken(request.headers['x-api-token'], apiToken))
      throw new Refusal(401, 'unauthorized', 'Send the API token in X-API-Token.');
    const seconds = secondsToWait();
    if (seconds === 0) return;
    void reply.header('retry-after', String(seconds));
    throw new Refusal(429, 'rate-limited', 'Too many requests.');
  });
  eventsRoute(app, simulation);
  callsRoute(app, simulation);
  recordingRoute(app, simulation);
  actionRoutes(app, simulation);
}

function isToken(given: string | string[] | undefined, token: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return typeof given === 'string' && timingSafeEqual(digest(given), digest(token));
}

/**
 * Counts requests in fixed windows.
 * @returns a function that counts a request and returns 0, or the seconds until the next window
 */
function rateLimiter(
  { requests, every }: NonNullable<Settings['rateLimit']>,
  now: () => number,
): () => number {
  let windowEnds = -Infinity;
  let counted = 0;
  return () => {
    if (now() >= windowEnds) {
      windowEnds = now() + every;
      counted = 0;
    }
    counted++;
    return counted <= requests ? 0 : Math.max(1, Math.ceil((windowEnds - now()) / 1_000));
  };
}

/** `GET /v1/events`. `previous` and `fields` are ignored: the spec does not support them. */
function eventsRoute(app: FastifyInstance, { messages, directory, settings }: Simulation): void {
  app.get<{ Querystring: PageQuery & { search?: unknown } }>('/events', ({ query }) => {
    const { search = '' } = query;
    if (typeof search !== 'string')
      throw new SimulatorError('invalid-input', 'Pass search only once.');
    const tree = parseEventSearch(search);
    const matches = eventMatcher(tree, directory, settings.untilIncludesDay);
    const found = activityEvents(messages, directory).filter(matches);
    return pageOf(found, query, settings.pageSize, (event) => event.record());
  });
}

/**
 * `GET /v1/calls`. The spec shows only the `_id` of a record.
 * @guess `GET /v1/calls`, rule actions, errors, paging and rate limits
 */
function callsRoute(app: FastifyInstance, { calls, settings }: Simulation): void {
  app.get<{ Querystring: PageQuery }>('/calls', ({ query }) => {
    const found = calls.list().map((call) => ({ _id: call._id, time: call.createdAt, call }));
    return pageOf(found, query, settings.pageSize, ({ call }) =>
      callRecord(call, settings.fieldNames),
    );
  });
}

/** The fields of the webhook body, and the recording. */
function callRecord(call: Call, names: Settings['fieldNames']): Record<string, unknown> {
  const trigger = call.endedAt === undefined ? 'call:started' : 'call:completed';
  const { recording } = call;
  return {
    _id: call._id,
    ...omit(callBody(call, trigger, names), 'eventName', 'callId'),
    recording: recording ? { durationSeconds: recording.durationSeconds } : null,
  };
}

/**
 * One page of a list. The spec shows only `results`.
 * @guess `GET /v1/calls`, rule actions, errors, paging and rate limits
 */
interface Page<Result> {
  readonly results: Result[];
  /** The `next` parameter of the next page; `null` on the last page. */
  readonly next: string | null;
  readonly hasNext: boolean;
}

const MAX_PAGE_SIZE = 500;

/** The query parameters of a page. */
interface PageQuery {
  readonly next?: unknown;
  readonly limit?: unknown;
}

/** Lists are sorted by time, newest first, and then by `_id`. */
interface Dated {
  readonly _id: string;
  readonly time: number;
}

/**
 * Selects one page. A cursor names the last result of its page, so that new results and vanished
 * `unopened` events do not shift the next pages.
 * @throws SimulatorError `invalid-input` for an invalid cursor or limit
 */
function pageOf<Item extends Dated, Result>(
  items: readonly Item[],
  query: PageQuery,
  pageSize: number,
  resultOf: (item: Item) => Result,
): Page<Result> {
  const limit = limitOf(query.limit, pageSize);
  const after = query.next === undefined ? undefined : keyOfCursor(query.next);
  const left = items
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === undefined || key < after)
    .sort((one, other) => (one.key < other.key ? 1 : -1));
  const shown = left.slice(0, limit).map(({ item }) => item);
  const last = shown.at(-1);
  const hasNext = left.length > limit && last !== undefined;
  return { results: shown.map(resultOf), hasNext, next: hasNext ? cursorOf(last) : null };
}

const keyOf = ({ time, _id }: Dated) => `${String(time).padStart(16, '0')}/${_id}`;
const cursorOf = (item: Dated) => Buffer.from(keyOf(item)).toString('base64url');

function keyOfCursor(cursor: unknown): string {
  const key = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  if (/^\d{16}\/./.test(key)) return key;
  throw new SimulatorError('invalid-input', 'Invalid cursor: pass the "next" of a page.');
}

function limitOf(limit: unknown, pageSize: number): number {
  if (limit === undefined) return pageSize;
  if (typeof limit === 'string' && /^[1-9]\d{0,8}$/.test(limit))
    return Math.min(Number(limit), MAX_PAGE_SIZE);
  throw new SimulatorError('invalid-input', 'limit must be a whole number from 1.');
}

const NEW_ACTION = z.object({
  type: z.optional(z.literal('webhook', '"webhook"')),
  url: z.optional(z.unknown()),
  payload: z.optional(z.unknown()),
});
const ROTATION = z.object({ rotateSigningSecret: z.literal(true, 'true') });

/**
 * `POST /v1/rules/{id}/actions` creates a webhook action, and `PATCH …/{actionId}` with
 * `rotateSigningSecret` rotates its secret. Both respond with the action and its secret. The spec shows
 * no other fields. The recording webhook is not a rule here: it belongs to the administration area.
 * @guess `GET /v1/calls`, rule actions, errors, paging and rate limits
 * @guess How the secret of the recording webhook is rotated
 */
function actionRoutes(app: FastifyInstance, { rules, secrets }: Simulation): void {
  const withSecret = (action: Action) => ({
    ...action,
    signingSecret: secrets.get(action._id)?.current,
  });
  const checkRule = (id: string) => {
    if (rules.get(id).kind !== 'rule')
      throw new SimulatorError('not-found', 'No rule has this id.');
  };
  app.post<{ Params: { id: string } }>('/rules/:id/actions', ({ params, body }, reply) => {
    const { url, payload } = checked(NEW_ACTION, body);
    checkRule(params.id);
    const action = rules.addAction(params.id, { url, payload } as ActionInput);
    return reply.code(201).send(withSecret(action));
  });
  app.patch<{ Params: { id: string; actionId: string } }>(
    '/rules/:id/actions/:actionId',
    ({ params, body }) => {
      checked(ROTATION, body);
      checkRule(params.id);
      const action = rules.action(params.id, params.actionId);
      secrets.rotate(action._id);
      return withSecret(action);
    },
  );
}
