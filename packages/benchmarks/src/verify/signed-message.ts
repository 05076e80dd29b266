import type { Buffer } from 'node:buffer';
import { eventBody } from '../sending/payload.ts';
import { signedHeaders, type Scheme } from '../sending/schemes.ts';

/** One delivery as a server's handler has it. */
export interface SignedMessage {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export const signedMessages = (scheme: Scheme, number: number): SignedMessage[] =>
  Array.from({ length: number }, (_none, index) => {
    const body = eventBody(index);
    return { headers: signedHeaders(scheme, body), body };
  });

/** Verifies one message; throws, or gives false, when it is not authentic. */
export type Verify = (message: SignedMessage) => unknown;
