import { RequestError } from '../http/answer.ts';
import { invalid } from '../http/query.ts';
import type { RouteContext } from './context.ts';
import {
  abortRedrive,
  deadLetter,
  deadLetters,
  redrive,
  redriveState,
  remove,
  reveal,
} from './dead-letters.ts';
import { callTimeline, deliveries } from './deliveries.ts';
import { overview, session } from './overview.ts';
import { abortReconcile, reconcile, reconcileState } from './reconcile.ts';

/** Answers a request with a value for JSON. */
export type Route = (context: RouteContext) => unknown;

/** What is asked for: the methods of a path, and the decoded parts of it. */
export interface RouteMatch {
  readonly route: Route;
  readonly parameters: readonly string[];
}

const ROUTES: readonly (readonly [path: string, methods: { GET?: Route; POST?: Route }])[] = [
  ['/api/session', { GET: session }],
  ['/api/overview', { GET: overview }],
  ['/api/deliveries', { GET: deliveries }],
  ['/api/calls/*', { GET: callTimeline }],
  ['/api/dead-letters', { GET: deadLetters }],
  ['/api/dead-letters/*', { GET: deadLetter }],
  ['/api/dead-letters/*/reveal', { POST: reveal }],
  ['/api/dead-letters/*/remove', { POST: remove }],
  ['/api/redrive', { GET: redriveState, POST: redrive }],
  ['/api/redrive/abort', { POST: abortRedrive }],
  ['/api/reconcile', { GET: reconcileState, POST: reconcile }],
  ['/api/reconcile/abort', { POST: abortReconcile }],
];

/**
 * Finds the route of a path as it was sent: it is compared piece by piece, so `..` and encoded slashes
 * lead nowhere.
 * @throws RequestError `unknown-path`, `method-not-allowed`, `invalid-request`
 */
export function findRoute(method: string, path: string): RouteMatch {
  const pieces = path.split('/');
  for (const [pattern, methods] of ROUTES) {
    const expected = pattern.split('/');
    if (!matches(expected, pieces)) continue;
    const parameters = pieces.filter((_, index) => expected[index] === '*').map(decoded);
    return { route: routeOf(methods, method), parameters };
  }
  throw unknownPath();
}

export const unknownPath = () =>
  new RequestError(
    'unknown-path',
    'The console has no such path. Its page is where it is mounted; for fetch and node:http, set the option path.',
  );

export const wrongMethod = (allowed: string) =>
  new RequestError('method-not-allowed', `Use ${allowed}.`, { headers: { allow: allowed } });

const matches = (expected: readonly string[], pieces: readonly string[]) =>
  expected.length === pieces.length &&
  expected.every(
    (piece, index) => piece === pieces[index] || (piece === '*' && pieces[index] !== ''),
  );

function routeOf(methods: { GET?: Route; POST?: Route }, method: string): Route {
  const route = method === 'POST' ? methods.POST : method === 'GET' ? methods.GET : undefined;
  if (!route) throw wrongMethod(Object.keys(methods).join(', '));
  return route;
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    throw invalid('a part of the path is not encoded correctly');
  }
}
