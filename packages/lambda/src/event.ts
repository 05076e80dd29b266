import { WebhookError, type ReceiverRequest } from '@call-webhooks/core';

/** What the HTTP triggers of Lambda have in common. */
interface HttpEvent {
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
  readonly headers?: Headers | null | undefined;
}

type Headers = Readonly<Record<string, string | undefined>>;
type MultiValues = Readonly<Record<string, string[] | undefined>>;

/** API Gateway HTTP APIs with payload 2.0, and function URLs. */
export interface PayloadV2 extends HttpEvent {
  readonly version: string;
  readonly rawPath?: string | undefined;
  readonly rawQueryString?: string | undefined;
  readonly requestContext: { readonly http: { readonly method: string } };
}

/** API Gateway REST APIs, HTTP APIs with payload 1.0, and Application Load Balancers. */
export interface PayloadV1 extends HttpEvent {
  readonly httpMethod: string;
  readonly path?: string | undefined;
  readonly queryStringParameters?: Headers | null | undefined;
  readonly multiValueQueryStringParameters?: MultiValues | null | undefined;
  readonly multiValueHeaders?: MultiValues | null | undefined;
  readonly requestContext: object;
}

/** The part that we read of the event of an HTTP trigger. */
export type LambdaHttpEvent = PayloadV2 | PayloadV1;

/** Whether it comes from a load balancer. */
export const isFromLoadBalancer = (event: LambdaHttpEvent): boolean =>
  'elb' in event.requestContext;

/** Whether it comes from a load balancer that has multi-value headers turned on. */
export const hasOnlyMultiValueHeaders = (event: LambdaHttpEvent): boolean =>
  'multiValueHeaders' in event && Boolean(event.multiValueHeaders) && !event.headers;

/**
 * The request of an event, with the exact bytes of its body.
 * @throws WebhookError `invalid-options` for an event that no HTTP trigger sends
 */
export function requestOf(
  event: LambdaHttpEvent,
): Pick<ReceiverRequest, 'method' | 'url' | 'headers'> & { body: Uint8Array } {
  const method = methodOf(event);
  if (typeof method !== 'string') throw notHttp(event);
  return {
    method,
    url: urlOf(event),
    headers: headersOf(event),
    body: Buffer.from(event.body ?? '', event.isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}

function methodOf(event: LambdaHttpEvent): unknown {
  const { httpMethod, requestContext } = Object(event) as Partial<PayloadV1>;
  if (typeof requestContext !== 'object') return undefined;
  const { http } = requestContext as Partial<PayloadV2['requestContext']>;
  return http?.method ?? httpMethod;
}

/** The path and query. Some triggers have decoded them. */
function urlOf(event: LambdaHttpEvent): string {
  const isV1 = 'httpMethod' in event;
  const path = (isV1 ? event.path : event.rawPath) ?? '/';
  const query = isV1 ? queryOf(event) : (event.rawQueryString ?? '');
  return `${path.replace(/[?#]/g, encodeURIComponent)}?${query}`;
}

function queryOf(event: PayloadV1): string {
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
    return 'a server or of VPC Lattice, which this adapter does not know';
  const name = eventSource ?? EventSource ?? source;
  return typeof name === 'string' && /^aws[:.][\w:.-]{1,60}$/.test(name) ? name : undefined;
}
