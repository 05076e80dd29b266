import { Buffer } from 'node:buffer';
import { eventBody } from './payload.ts';
import { signedHeaders, type Scheme } from './schemes.ts';

let count = 0;

/** Signed requests as bytes for a socket, each with an id and a call of its own. */
export function signedRequests(scheme: Scheme, number: number): Buffer[] {
  return Array.from({ length: number }, () => {
    const body = eventBody(++count);
    const lines = Object.entries(signedHeaders(scheme, body)).map((pair) => pair.join(': '));
    const head = `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head, 'latin1'), body]);
  });
}
