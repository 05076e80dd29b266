import { isObject } from './api/body.ts';
import type { ConsoleParts } from './api/context.ts';
import { findRoute, unknownPath, wrongMethod } from './api/routes.ts';
import { jsonAnswer, RequestError, type Answer } from './http/answer.ts';
import type { MountedRequest } from './http/console-request.ts';
import { checkReader, checkSameOrigin } from './http/csrf.ts';
import { operatorOf, type KnownOperator } from './http/operator.ts';
import { assetAnswer, pageAnswer } from './http/page.ts';
import { invalid } from './http/query.ts';
import { logFailure } from './log-lines.ts';

/** Answers one request. Never rejects, and never with 404, 410 or 3xx. */
export async function handleRequest(parts: ConsoleParts, request: MountedRequest): Promise<Answer> {
  const { authorize, logger } = parts.settings;
  try {
    // Before anything else, so that nobody learns which paths there are.
    const operator = await operatorOf(authorize, request, logger);
    return await answerTo(parts, request, operator);
  } catch (error) {
    if (error instanceof RequestError) return error.answer;
    logFailure(logger, 'a request failed', error);
    return new RequestError('internal', 'The console failed. The log has its error.').answer;
  }
}

async function answerTo(
  parts: ConsoleParts,
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
  const { route, parameters } = findRoute(method, path);
  let body = {};
  if (method === 'POST') {
    checkWriter(parts, request, operator);
    const given = await request.body();
    if (!isObject(given)) throw invalid('expected a JSON object');
    body = given;
  } else checkReader(request);
  return jsonAnswer(await route({ ...parts, request, operator, parameters, body }));
}

/** @throws RequestError `read-only`, `cross-origin`, `unsupported-type`, `csrf-token` */
function checkWriter(
  { settings, tokens }: ConsoleParts,
  request: MountedRequest,
  operator: KnownOperator,
): void {
  checkSameOrigin(request, settings.origin);
  // A form of another site cannot send this type.
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw new RequestError('unsupported-type', 'Send application/json.');
  tokens.check(operator.name, request.headers);
  if (settings.readOnly)
    throw new RequestError('read-only', 'This console is read-only (option readOnly).');
  if (!operator.canWrite)
    throw new RequestError('read-only', 'You may read this console, but change nothing.');
}
