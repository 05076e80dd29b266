import { ApiError } from '../errors/index.ts';
import type { Settings } from '../settings.ts';
import { readText, watchedBody } from './body.ts';
import type { Deadline } from './deadline.ts';
import type { Answer } from './exchange.ts';
import { describe, type RequestSpec } from './request.ts';
import { parseRetryAfter } from './retry-after.ts';

const longestErrorBody = 65_536;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === '' ? undefined : text;
  }
}

// One short word: a sentence might name people, and codes do not.
function shortWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][\w.:-]{0,63}$/.test(value) ? value : undefined;
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function serviceCode(body: unknown): string | undefined {
  const error = field(body, 'error');
  return shortWord(field(body, 'code')) ?? shortWord(field(error, 'code')) ?? shortWord(error);
}

/** Turns an answer that is not 2xx into an ApiError. Its body is read if it can be. */
export async function apiError(
  settings: Settings,
  spec: RequestSpec,
  answer: Answer,
  deadline: Deadline,
): Promise<ApiError> {
  const { response, redactor } = answer;
  const request = describe(spec);
  const stream = watchedBody(answer, deadline, request);
  // The limit of one wait is that of the whole body here: an answer that drips must not hold back
  // the status, which is known and says more. An abort of the caller still counts.
  const text = await deadline
    .run('body', () => readText(stream, longestErrorBody, request))
    .catch((error: unknown) => {
      if (spec.signal?.aborted) throw error;
      return '';
    });
  const body = redactor.json(parse(text));
  const requestId = response.headers.get(settings.wire.requestIdHeader);
  return new ApiError({
    method: spec.method,
    path: spec.url.pathname,
    status: response.status,
    serviceCode: serviceCode(body),
    requestId: requestId === null ? undefined : redactor.text(requestId),
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), settings.clock.now()),
    body,
  });
}
