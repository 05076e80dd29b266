import { ApiError } from '../errors/index.ts';
import type { Settings } from '../settings.ts';
import { checkedBody, readText } from './body.ts';
import type { Deadline } from './deadline.ts';
import type { ReceivedResponse } from './exchange.ts';
import { describe, type RequestSpec } from './request.ts';
import { parseRetryAfter } from './retry.ts';

const longestErrorBody = 65_536;

/** Turns a response that is not 2xx into an ApiError, with its body if that can be read. */
export async function readApiError(
  settings: Settings,
  spec: RequestSpec,
  received: ReceivedResponse,
  deadline: Deadline,
): Promise<ApiError> {
  const { response, redactor } = received;
  const request = describe(spec);
  const stream = checkedBody(received, deadline, request);
  // The whole body gets the time of one wait: a slow body must not hold back the status, which says
  // more. An abort by the caller still counts.
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === '' ? undefined : text;
  }
}

function serviceCode(body: unknown): string | undefined {
  const error = field(body, 'error');
  return shortWord(field(body, 'code')) ?? shortWord(field(error, 'code')) ?? shortWord(error);
}

// Codes are short words. A sentence might name people.
function shortWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][\w.:-]{0,63}$/.test(value) ? value : undefined;
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
