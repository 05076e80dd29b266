import type { SignedDelivery } from './delivery.ts';

/** How a request differs from the valid one. */
export interface RequestChanges {
  method?: string;
  path?: string;
  version?: string;
  host?: readonly string[];
  /** Replaces the three signature headers. */
  signed?: readonly string[];
  /** More header lines, raw. */
  more?: readonly string[];
  /** Replaces `Content-Length`. */
  framing?: readonly string[];
  body?: string | Buffer;
  /** Without it, the request has `Connection: close`. */
  keepAlive?: boolean;
  newLine?: string;
}

/** The three signature headers. */
export const signatureLines = ({ webhookId, timestamp, signature }: SignedDelivery) => [
  `X-Service-Webhook-Id: ${webhookId}`,
  `X-Service-Timestamp: ${timestamp}`,
  `X-Service-Signature: ${signature}`,
];

/** The bytes of an HTTP/1.1 request: valid, except for the changes. */
export function requestBytes(delivery: SignedDelivery, path: string, changes: RequestChanges = {}) {
  const {
    method = 'POST',
    version = 'HTTP/1.1',
    host = ['Host: localhost'],
    signed = signatureLines(delivery),
    more = [],
    body = delivery.body,
    framing = [`Content-Length: ${String(Buffer.byteLength(body))}`],
    keepAlive = false,
    newLine = '\r\n',
  } = changes;
  const lines = [
    `${method} ${changes.path ?? path} ${version}`,
    ...host,
    'Content-Type: application/json',
    ...(keepAlive ? [] : ['Connection: close']),
    ...signed,
    ...framing,
    ...more,
    '',
    '',
  ];
  // latin1, so that every byte can be written.
  return Buffer.concat([Buffer.from(lines.join(newLine), 'latin1'), Buffer.from(body as string)]);
}

/** A body in HTTP/1.1 chunks. */
export function chunked(body: Buffer, { size = 7, trailers = [] as readonly string[] } = {}) {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  chunks.push(Buffer.from(`0\r\n${trailers.map((line) => `${line}\r\n`).join('')}\r\n`));
  return Buffer.concat(chunks);
}
