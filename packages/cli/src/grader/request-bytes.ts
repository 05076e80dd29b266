import type { Delivery } from './delivery.ts';

/** How a request differs from the one that the service sends. */
export interface RequestChanges {
  readonly method?: string;
  /** The path with the query. */
  readonly path?: string;
  /** Header lines instead of the three of the signature. */
  readonly signed?: readonly string[];
  /** Further header lines. */
  readonly more?: readonly string[];
  /** Header lines instead of `Content-Length`. */
  readonly framing?: readonly string[];
  /** Instead of `application/json`; `null`: without the header. */
  readonly contentType?: string | null;
  /** The bytes to send instead of the body. */
  readonly body?: Uint8Array;
  /** Changes the spelling of all header names. */
  readonly spell?: (name: string) => string;
  /** Leaves the connection open after the response. */
  readonly keepAlive?: boolean;
}

/** The three header lines of the signature. */
export const signatureLines = ({ prefix, webhookId, timestamp, signature }: Delivery) =>
  [
    `${prefix}-Webhook-Id: ${webhookId}`,
    `${prefix}-Timestamp: ${timestamp}`,
    `${prefix}-Signature: ${signature}`,
  ] as const;

/** The bytes of an HTTP/1.1 request. */
export function requestBytes(url: URL, delivery: Delivery, changes: RequestChanges = {}): Buffer {
  const { body = delivery.body, contentType = 'application/json', spell = String } = changes;
  const lines = [
    `Host: ${url.host}`,
    'User-Agent: call-webhooks-check',
    ...(contentType === null ? [] : [`Content-Type: ${contentType}`]),
    ...(changes.keepAlive ? [] : ['Connection: close']),
    ...(changes.framing ?? [`Content-Length: ${body.length}`]),
    ...(changes.signed ?? signatureLines(delivery)),
    ...(changes.more ?? []),
  ].map((line) => line.replace(/^[^:]+/, spell));
  const path = changes.path ?? url.pathname + url.search;
  const head = [`${changes.method ?? 'POST'} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** A body in HTTP/1.1 chunks. */
export function chunked(body: Uint8Array, size = 16): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}
