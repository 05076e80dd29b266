import type { SignedDelivery } from './delivery.ts';

/** How a request departs from the honest one. */
export interface Departures {
  method?: string;
  path?: string;
  version?: string;
  host?: readonly string[];
  /** In place of the three signature headers. */
  signed?: readonly string[];
  /** Further header lines, raw. */
  more?: readonly string[];
  /** In place of `Content-Length`. */
  framing?: readonly string[];
  body?: string | Buffer;
  /** `Connection: close` unless told otherwise. */
  keepAlive?: boolean;
  newLine?: string;
}

/** The header lines that prove a delivery. */
export const signatureLines = ({ webhookId, timestamp, signature }: SignedDelivery) => [
  `X-Service-Webhook-Id: ${webhookId}`,
  `X-Service-Timestamp: ${timestamp}`,
  `X-Service-Signature: ${signature}`,
];

/** The bytes of one HTTP/1.1 request, honest but for its departures. */
export function requestBytes(delivery: SignedDelivery, path: string, departures: Departures = {}) {
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
  } = departures;
  const lines = [
    `${method} ${departures.path ?? path} ${version}`,
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
