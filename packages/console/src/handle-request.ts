import type { Api, Call, Handler } from './api.ts';
import {
  assetAnswer,
  invalid,
  jsonAnswer,
  pageAnswer,
  refusedAnswer,
  RequestError,
  type Answer,
} from './http/answer.ts';
import type { RefusalLog } from './http/refusals.ts';
import { operatorOf, type KnownOperator } from './http/operator.ts';
import { checkChange, checkRead, type MountedRequest } from './http/request.ts';
import type { ConsoleSettings } from './options.ts';
import { logFailure } from './store-calls.ts';

/** Answers one request. Never rejects, and never with 404, 410 or 3xx. */
export async function handleRequest(
  settings: ConsoleSettings,
  api: Api,
  refusals: RefusalLog,
  request: MountedRequest,
): Promise<Answer> {
  const { authorize, logger, signIn } = settings;
  try {
    // Before anything else, so that nobody learns which paths there are.
    const operator = await operatorOf(authorize, request, logger);
    return await answerTo(settings, api, request, operator);
  } catch (error) {
    if (error instanceof RequestError) {
      refusals.add(error, request);
      const isRefused = error.code === 'unauthorized' || error.code === 'unavailable';
      return isRefused && isForPerson(request) ? refusedAnswer(error, signIn) : error.answer;
    }
    logFailure(logger, 'a request failed', error);
    return new RequestError('internal', "The console failed. See the receiver's log for the error.")
      .answer;
  }
}

/** A browser that opens the page, not a script that asks for data. */
const isForPerson = ({ method, path, headers }: MountedRequest) =>
  (method === 'GET' || method === 'HEAD') &&
  path === '/' &&
  (headers.get('accept') ?? '').includes('text/html');

async function answerTo(
  settings: ConsoleSettings,
  api: Api,
  request: MountedRequest,
  operator: KnownOperator,
): Promise<Answer> {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const path = request.path.length > 1 ? request.path.replace(/\/$/, '') : request.path;
  if (path === '/' || path.startsWith('/assets/')) {
    const answer = path === '/' ? pageAnswer(request.documentPath) : assetAnswer(path);
    if (!answer) throw unknownPath();
    if (method !== 'GET') throw wrongMethod('GET');
    return answer;
  }
  const { handler, parameters } = findHandler(api, method, path);
  const call: Call = { query: request.query, body: undefined, operator, parameters };
  if (method !== 'POST') {
    checkRead(request);
    return jsonAnswer(await handler(call));
  }
  checkChange(request, settings.origin);
  if (settings.readOnly)
    throw new RequestError('read-only', 'This console is read-only (readOnly option).');
  if (!operator.canWrite)
    throw new RequestError(
      'read-only',
      'You can view this console, but you cannot change anything.',
    );
  return jsonAnswer(await handler({ ...call, body: await request.body() }));
}

/**
 * Finds the route of a path as it was sent: it is compared piece by piece, so `..` and encoded slashes
 * lead nowhere.
 * @throws RequestError `unknown-path`, `method-not-allowed`, `invalid-request`
 */
function findHandler(
  { routes }: Api,
  method: string,
  path: string,
): { handler: Handler; parameters: string[] } {
  const pieces = path.split('/');
  for (const [pattern, methods] of routes) {
    const expected = pattern.split('/');
    if (!matches(expected, pieces)) continue;
    const handler = method === 'GET' || method === 'POST' ? methods[method] : undefined;
    if (!handler) throw wrongMethod(Object.keys(methods).join(', '));
    return { handler, parameters: pieces.filter((_, at) => expected[at] === '*').map(decoded) };
  }
  throw unknownPath();
}

const matches = (expected: readonly string[], pieces: readonly string[]) =>
  expected.length === pieces.length &&
  expected.every(
    (piece, index) => piece === pieces[index] || (piece === '*' && pieces[index] !== ''),
  );

const unknownPath = () =>
  new RequestError(
    'unknown-path',
    'The console has no such path. Open the path where it is mounted. With fetch and node:http, set the path option.',
  );

const wrongMethod = (allowed: string) =>
  new RequestError('method-not-allowed', `This path does not support the method. Use ${allowed}.`, {
    headers: { allow: allowed },
  });

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    throw invalid('a part of the path is not encoded correctly');
  }
}
