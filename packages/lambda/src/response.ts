import { STATUS_CODES } from 'node:http';
import type { ReceiverResponse } from '@call-webhooks/core';
import { hasOnlyMultiValueHeaders, isFromLoadBalancer, type LambdaHttpEvent } from './event.ts';

/** The response to an HTTP trigger of Lambda. */
export interface LambdaHttpResponse {
  statusCode: number;
  /** `'200 OK'`; for load balancers only. */
  statusDescription?: string;
  /** Absent for a load balancer with multi-value headers, which ignores them. */
  headers?: Record<string, string>;
  /** For a load balancer with multi-value headers only. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: false;
}

/** The response in the form that the trigger of the event expects. */
export function responseTo(
  event: LambdaHttpEvent,
  { status, headers, body }: ReceiverResponse,
): LambdaHttpResponse {
  const lists = Object.entries(headers).map(
    ([name, value]) => [name, [value]] as [string, string[]],
  );
  return {
    statusCode: status,
    ...(isFromLoadBalancer(event) && {
      statusDescription: `${String(status)} ${STATUS_CODES[status] ?? ''}`,
    }),
    ...(hasOnlyMultiValueHeaders(event)
      ? { multiValueHeaders: Object.fromEntries(lists) }
      : { headers: { ...headers } }),
    body,
    isBase64Encoded: false,
  };
}
