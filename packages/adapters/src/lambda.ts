import { STATUS_CODES } from 'node:http';
import {
  createReceiver,
  WebhookError,
  type HealthSource,
  type Logger,
  type Receiver,
  type ReceiverOptions,
  type ReceiverRequest,
  type ReceiverResponse,
  type Store,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import {
  alreadyParsed,
  docsUrl,
  isBytes,
  isOfServer,
  read,
  readiness,
  safeLogger,
  wrongArgument,
} from '@call-webhooks/core/internal';

export * from '@call-webhooks/core';

/** What the HTTP triggers of Lambda have in common. */
interface HttpEvent {
  /** The body. A value other than a string is answered with 500 `body-already-parsed`. */
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
  readonly headers?: Values | null | undefined;
}

type Values = Readonly<Record<string, string | undefined>>;
type MultiValues = Readonly<Record<string, string[] | undefined>>;

/** The event of API Gateway HTTP APIs with payload 2.0, and of function URLs. */
export interface LambdaPayloadV2 extends HttpEvent {
  readonly version: string;
  readonly rawPath?: string | undefined;
  readonly rawQueryString?: string | undefined;
  readonly requestContext: { readonly http: { readonly method: string } };
}

/**
 * The event of API Gateway REST APIs, HTTP APIs with payload 1.0, Application Load Balancers, and
 * Netlify.
 */
export interface LambdaPayloadV1 extends HttpEvent {
  readonly httpMethod: string;
  readonly path?: string | undefined;
  readonly queryStringParameters?: Values | null | undefined;
  readonly multiValueQueryStringParameters?: MultiValues | null | undefined;
  readonly multiValueHeaders?: MultiValues | null | undefined;
  /** Netlify has none. */
  readonly requestContext?: object | undefined;
}

/** The part of an HTTP trigger's event that is read. */
export type LambdaHttpEvent = LambdaPayloadV2 | LambdaPayloadV1;

/** The response to an HTTP trigger of Lambda. */
export interface LambdaHttpResponse {
  statusCode: number;
  /** The status and its name, such as `'200 OK'`. Only load balancers get it. */
  statusDescription?: string;
  /** Absent for a load balancer with multi-value headers, which ignores them. */
  headers?: Record<string, string>;
  /** For a load balancer with multi-value headers only. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: false;
}

/** The part of Lambda's context that is read. */
export interface LambdaContext {
  /** Returns the time until Lambda ends the function, in milliseconds. */
  getRemainingTimeInMillis(): number;
}

/** A Lambda function for an HTTP trigger, together with its receiver. */
export interface LambdaHandler {
  (event: LambdaHttpEvent, context?: LambdaContext): Promise<LambdaHttpResponse>;
  /** The receiver of this handler, for `health()`, `deliver()` and `close()`. */
  readonly receiver: Receiver;
}

/** `ackWithin` of core, in milliseconds. */
const DEFAULT_ACK_WITHIN = 20_000;

/** The response has to reach Lambda before the function's timeout; milliseconds. */
const MARGIN_MS = 1_000;
const docs = docsUrl('serverless.md#work-after-the-response');

/**
 * Creates a Lambda function for API Gateway (payloads 1.0 and 2.0), function URLs, Application Load
 * Balancers and Netlify. It rejects an event of any other trigger with a `WebhookError` whose message
 * says what to do.
 *
 * Lambda freezes a function once it has responded. The function therefore waits for a handler that has
 * not finished by `ackWithin`: the response, 503 `deadline`, is sent when the handler ends, or one
 * second before the function times out.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * export const handler = callWebhooks({ secret, on: { 'call:completed': async (event) => { … } } });
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): LambdaHandler {
  const receiver = createReceiver(options);
  const { logger = console, ackWithin = DEFAULT_ACK_WITHIN } = options;
  const warnOfTimeout = timeoutWarning(ackWithin, logger);
  const handle = async (event: LambdaHttpEvent, context?: LambdaContext) => {
    const request = requestOf(event);
    warnOfTimeout(context);
    const late: Promise<unknown>[] = [];
    const waitUntil = (work: Promise<unknown>) => void late.push(work);
    const response = await receiver.receive({ ...request, waitUntil });
    await waitForLateWork(late, context, logger);
    return responseTo(event, response);
  };
  return Object.assign(handle, { receiver });
}

/**
 * Creates a Lambda function for readiness probes: it returns 200 if the receiver would accept a
 * delivery now, and 503 otherwise. It accepts the same events as the function that `callWebhooks`
 * creates.
 * @param receiver a receiver, or the function that has one
 * @throws WebhookError `invalid-options` if it is neither. The function rejects with one for an event
 *   of any other trigger.
 * @example
 * export const health = ready(handler);
 */
export function ready(
  receiver: HealthSource,
): (event: LambdaHttpEvent) => Promise<LambdaHttpResponse> {
  const respond = readiness(receiver);
  return async (event) => {
    if (typeof methodOf(event) !== 'string') throw notHttp(event);
    return responseTo(event, await respond());
  };
}

/**
 * The request of an event, with the exact bytes of its body.
 * @throws WebhookError `invalid-options` for an event that no HTTP trigger sends
 */
function requestOf(
  event: LambdaHttpEvent,
): Pick<ReceiverRequest, 'method' | 'url' | 'headers' | 'body'> {
  const method = methodOf(event);
  if (typeof method !== 'string') throw notHttp(event);
  return {
    method,
    url: urlOf(event),
    headers: headersOf(event),
    // A function, so that what it throws gets the response of its outcome.
    body: () => Promise.resolve(event).then(bodyOf),
  };
}

/**
 * The bytes of a body, as the trigger encoded them.
 * @throws WebhookError `body-already-parsed` for what no trigger sends
 */
function bodyOf({ body, isBase64Encoded }: HttpEvent): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array();
  if (isBytes(body)) return body;
  if (typeof body !== 'string')
    throw alreadyParsed(
      'Something replaced event.body, such as httpJsonBodyParser of middy. Call the receiver without it.',
    );
  const isBase64 = !/[^A-Za-z\d+/=]/.test(body);
  if (isBase64Encoded === true && !isBase64)
    throw alreadyParsed(
      'event.isBase64Encoded is true, but event.body is not base64: something in front of the receiver decoded it. Call the receiver without it.',
    );
  const bytes = Buffer.from(body, isBase64 ? 'base64' : 'utf8');
  if (isBase64Encoded === true) return bytes;
  // Text may be base64 as well, such as a number, but no JSON begins as the base64 of an object does.
  if (isBase64 && bytes[0] === OPENING_BRACE)
    throw alreadyParsed(
      'event.body is base64, but event.isBase64Encoded is not true. Pass on both as the trigger sent them.',
    );
  return isBase64 ? Buffer.from(body) : bytes;
}

const OPENING_BRACE = 0x7b;

function methodOf(event: LambdaHttpEvent): unknown {
  const { httpMethod, requestContext } = Object(event) as Partial<LambdaPayloadV1>;
  const { http } = Object(requestContext) as Partial<LambdaPayloadV2['requestContext']>;
  return http?.method ?? httpMethod;
}

/** The path and query. Some triggers have decoded them. */
function urlOf(event: LambdaHttpEvent): string {
  const isV1 = 'httpMethod' in event;
  const path = (isV1 ? event.path : event.rawPath) ?? '/';
  const query = isV1 ? queryOf(event) : (event.rawQueryString ?? '');
  return `${path.replace(/[?#]/g, encodeURIComponent)}?${query}`;
}

function queryOf(event: LambdaPayloadV1): string {
  const given = event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {};
  const query = new URLSearchParams();
  for (const [name, values = []] of Object.entries(given) as [string, string | string[]][])
    for (const value of [values].flat()) query.append(name, value);
  return query.toString();
}

/**
 * All values of each header, by its name in lower case. `headers` has only the last value of a
 * duplicate, so `multiValueHeaders` comes first: a duplicate signature must not go unnoticed.
 */
function headersOf(event: LambdaHttpEvent): Record<string, string[]> {
  const lists = ('multiValueHeaders' in event && event.multiValueHeaders) || {};
  const given = Object.keys(lists).length > 0 ? lists : (event.headers ?? {});
  const headers = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of Object.entries<string | string[] | undefined>(given)) {
    if (value === undefined) continue; // in events that are made by hand
    const key = name.toLowerCase();
    headers[key] = (headers[key] ?? []).concat(value);
  }
  return headers;
}

/** Says what was received by its source only: an event may hold personal data. */
function notHttp(event: unknown): WebhookError {
  if (isOfServer(event)) return wrongArgument('This handler takes an event of AWS Lambda.', event);
  const source = sourceOf(event);
  return new WebhookError(
    'invalid-options',
    `This event is not an HTTP request${source === undefined ? '' : ` but one of ${source}`}. Invoke the function through API Gateway, a function URL or an Application Load Balancer. To handle deliveries of a queue, use a worker, or receiver.deliver().`,
  );
}

/** The trigger of an event, such as `aws:sqs`, if it names one. */
function sourceOf(event: unknown): string | undefined {
  const { Records, source, method, headers } = Object(event) as Record<string, unknown>;
  const [record] = (Array.isArray(Records) ? Records : []) as unknown[];
  const { eventSource, EventSource, cf } = Object(record) as Record<string, unknown>;
  if (cf !== undefined) return 'Lambda@Edge';
  if (typeof method === 'string' && typeof headers === 'object')
    return 'a server or of VPC Lattice, which this adapter does not support';
  const name = eventSource ?? EventSource ?? source;
  return typeof name === 'string' && /^aws[:.][\w:.-]{1,60}$/.test(name) ? name : undefined;
}

/**
 * Waits for handlers that run beyond their deadline, since Lambda freezes the function as soon as it
 * has responded. It stops waiting a second before the function's timeout.
 */
async function waitForLateWork(
  work: readonly Promise<unknown>[],
  context: LambdaContext | undefined,
  logger: Logger,
): Promise<void> {
  // Outside of Lambda nothing is frozen.
  const remaining = remainingOf(context);
  if (work.length === 0 || remaining === undefined) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(resolve, remaining - MARGIN_MS, 'timeout');
  });
  const ended = await Promise.race([Promise.allSettled(work), timeout]);
  clearTimeout(timer);
  if (ended !== 'timeout') return;
  safeLogger(logger).warn(
    { docs },
    "call-webhooks: a handler is still running, but the function's timeout is near. Lambda will now freeze it, so it may never finish. Its lease will expire, and the service's retry will run the event again. Raise the function's timeout, or use a queue.",
  );
}

/** The milliseconds until the function's timeout. Other hosts and tests have another context, or none. */
function remainingOf(context: unknown): number | undefined {
  const ask = read(context, 'getRemainingTimeInMillis');
  if (typeof ask !== 'function') return undefined;
  const remaining: unknown = Reflect.apply(ask, context, []);
  return typeof remaining === 'number' ? remaining : undefined;
}

/** Warns, once, of a timeout that ends the function before the receiver can respond. */
function timeoutWarning(
  ackWithin: number,
  logger: Logger,
): (context: LambdaContext | undefined) => void {
  let warned = false;
  return (context) => {
    const remaining = remainingOf(context);
    if (warned || remaining === undefined || remaining >= ackWithin + MARGIN_MS) return;
    warned = true;
    safeLogger(logger).warn(
      { ackWithin, remaining, docs },
      `call-webhooks: the function's timeout leaves ${String(remaining)} ms, so a slow handler is killed before ackWithin (${String(ackWithin)} ms) is over. Set the timeout to at least one second more than ackWithin; 29 seconds is a good value.`,
    );
  };
}

/** The response in the form that the trigger of the event expects. */
function responseTo(
  event: LambdaHttpEvent,
  { status, headers, body }: Pick<ReceiverResponse, 'status' | 'headers' | 'body'>,
): LambdaHttpResponse {
  const lists = Object.entries(headers).map(
    ([name, value]) => [name, [value]] as [string, string[]],
  );
  const isFromLoadBalancer = 'elb' in (event.requestContext ?? {});
  /** Of a load balancer that has multi-value headers turned on. */
  const hasOnlyLists =
    'multiValueHeaders' in event && Boolean(event.multiValueHeaders) && !event.headers;
  return {
    statusCode: status,
    ...(isFromLoadBalancer && {
      statusDescription: `${String(status)} ${STATUS_CODES[status] ?? ''}`,
    }),
    ...(hasOnlyLists
      ? { multiValueHeaders: Object.fromEntries(lists) }
      : { headers: { ...headers } }),
    body,
    isBase64Encoded: false,
  };
}
