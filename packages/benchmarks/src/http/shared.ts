import type { IncomingMessage, ServerResponse } from 'node:http';
import { SECRET } from '../deliveries.ts';

const COUNTED = Symbol.for('@call-webhooks/benchmarks');

/** The response of every contender that lets us choose it: the response of our receiver. */
export const RESPONSE = '{"outcome":"handled"}';
export const RESPONSE_HEADERS = {
  'content-type': 'application/json',
  'content-length': String(RESPONSE.length),
};

export function writeResponse(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, RESPONSE_HEADERS);
  response.end(RESPONSE);
}

/** Counts in the whole process: Next bundles a copy of this module. */
const shared = globalThis as { [COUNTED]?: { handled: number } | undefined };
export const counted = (shared[COUNTED] ??= { handled: 0 });

/** The work of every handler, the same for all contenders. */
export function handle(event: unknown): void {
  if (typeof event === 'object' && event !== null) counted.handled += 1;
}

/** Our receiver with one secret, typed handlers and all defaults. */
export const RECEIVER_OPTIONS = {
  secret: SECRET,
  on: { 'call:started': handle, 'call:completed': handle, 'call:recording-available': handle },
};
