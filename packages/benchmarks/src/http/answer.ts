import type { IncomingMessage, ServerResponse } from 'node:http';

const COUNTED = Symbol.for('@call-webhooks/benchmarks');

/** What every contender answers, in so far as it lets us choose: the answer of our receiver. */
export const ANSWER = '{"outcome":"handled"}';
export const ANSWER_HEADERS = {
  'content-type': 'application/json',
  'content-length': String(ANSWER.length),
};

export function writeAnswer(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, ANSWER_HEADERS);
  response.end(ANSWER);
}

/** The handler's work: one for all, so that nobody is faster by doing less. */
export function handle(event: unknown): void {
  if (typeof event === 'object' && event !== null) counted.handled += 1;
}

/** Of the process: Next bundles modules of its own, and this one with them. */
const shared = globalThis as { [COUNTED]?: { handled: number } | undefined };
export const counted = (shared[COUNTED] ??= { handled: 0 });

/** A request that has no event: the bare contenders only collect the body. */
export function collected(body: Uint8Array | ArrayBuffer): void {
  handle(body);
}
