import type { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';

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
export let handled = 0;
export function handle(event: unknown): void {
  if (typeof event === 'object' && event !== null) handled += 1;
}

/** A request that has no event: the bare contenders only collect the body. */
export function collected(body: Buffer): void {
  handle(body);
}
