import {
  createVector,
  createVectors,
  type Vector,
  type VectorDelivery,
  type VectorOptions,
} from '@call-webhooks/contract';
import { EVENT_NAMES, type OutcomeCode } from '@call-webhooks/core';
import { describeResult, outcomeOf } from '../http/effects.ts';
import type { PostResult } from '../http/post.ts';
import {
  CALL_ID_PREFIX,
  type Check,
  effectKey,
  type Finding,
  type GradedReceiver,
  groupOf,
  pass,
  wrong,
} from './receiver.ts';

/** The first check: without it, a refusal shows nothing. */
export const BASELINE = 'signature/valid';
const BASELINE_FIX =
  'Check the secret, and acknowledge genuine deliveries. For a receiver that rejects events that it does not know, run npx call-webhooks check --run-handlers; if it needs the real field names, add --field-name placedBy=FIELD, which npx call-webhooks infer finds.';
/** They need no secret: any other will do. */
const UNSIGNED: readonly string[] = ['headers/none', 'signature/other-secret'];
/** How much later than the first a delivery may be, and still be sent at once; milliseconds. */
const AT_ONCE_MS = 60_000;

const FIXES: Readonly<Record<string, string>> = {
  signature: 'Compute the signature yourself over the raw bytes, and compare all of it.',
  headers: 'Require all three headers, regardless of case, and reject requests that lack one.',
  clock:
    'Reject a timestamp that does not consist of digits, or that is more than 300 s from the clock in either direction.',
  'body-bytes':
    'Verify the HMAC over the exact bytes that arrived, before you decode or parse them.',
  secrets: 'The key is what the secret without whsec_ decodes to. Never fall back to another key.',
  replays:
    'Remember each accepted webhook id for as long as its signature verifies, ten minutes, and reject repeats, for example with 409.',
  duplicates:
    'Recognize an event by callId and eventName together, and acknowledge an event that was already handled with 2xx.',
  events: 'Acknowledge these events with 2xx, and ignore fields that you do not know.',
};

/** The test vectors of the contract, as checks of this receiver. */
export function vectorChecks(receiver: GradedReceiver): Check[] {
  const seed = crypto.randomUUID();
  const files = createVectors(optionsFor(receiver, seed));
  return files
    .flatMap(({ vectors }) => vectors)
    .map((vector) => {
      const { id, description: title, why, deliveries } = vector;
      const runsHandlers = deliveries.some(({ body }) =>
        EVENT_NAMES.some((name) => name === eventOf(body)?.eventName),
      );
      return {
        id,
        title: title.replace(/\.$/, ''),
        why,
        fix: id === BASELINE ? BASELINE_FIX : (FIXES[groupOf({ id })] ?? ''),
        needs: UNSIGNED.includes(id)
          ? []
          : ['secret', ...(runsHandlers ? ['runHandlers' as const] : [])],
        impossible: impossible(vector, receiver.options.secret),
        effects: effectsOf(vector),
        run: (running) => runVector(id, running, seed),
      };
    });
}

/** Signs when it sends, so that a slow receiver gets timestamps of now. */
async function runVector(id: string, receiver: GradedReceiver, seed: string): Promise<Finding> {
  const { deliveries } = createVector(id, optionsFor(receiver, seed));
  const seen: string[] = [];
  for (const [at, delivery] of deliveries.entries()) {
    const result = await receiver.send(requestOf(delivery, receiver.options.headerPrefix));
    const which = deliveries.length > 1 ? ` for delivery ${String(at + 1)}` : '';
    if (!isRight(delivery, result) || isUnable(result)) return wrong(result, which);
    seen.push(describeResult(result));
  }
  return pass(seen.join(', '));
}

const optionsFor = (receiver: GradedReceiver, seed: string): VectorOptions => ({
  now: receiver.now(),
  seed,
  secret: receiver.options.secret,
  retryAfter: 0,
  callIdPrefix: CALL_ID_PREFIX,
  eventName: receiver.eventName,
  callFields: receiver.callFields,
});

function impossible(
  { secrets, exactClock, deliveries }: Vector,
  secret: string | undefined,
): string | undefined {
  if (secret !== undefined && !secrets.includes(secret)) return 'it is about other secrets';
  if (exactClock) return 'it needs an exact clock';
  const [first] = deliveries;
  const isLater = deliveries.some(({ now }) => now - (first?.now ?? 0) >= AT_ONCE_MS);
  return isLater ? 'it is about the passing of time' : undefined;
}

function eventOf({ base64 }: VectorDelivery['body']) {
  try {
    const text = Buffer.from(base64, 'base64').toString();
    return JSON.parse(text) as { readonly eventName: string; readonly callId: string };
  } catch {
    return undefined; // it has to be refused
  }
}

function effectsOf({ deliveries }: Vector): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { body, expect } of deliveries) {
    const event = eventOf(body);
    if (!event) continue;
    const key = effectKey(event.callId, event.eventName);
    counts.set(key, (counts.get(key) ?? 0) + expect.effects);
  }
  return counts;
}

/** @param prefix of the header names, instead of `X-Service` */
const requestOf = ({ headers, body }: VectorDelivery, prefix = 'X-Service') => ({
  headers: {
    'Content-Type': 'application/json',
    ...Object.fromEntries(headers.map(([name, value]) => [respelled(name, prefix), value])),
  },
  body: Buffer.from(body.base64, 'base64'),
});

function respelled(name: string, prefix: string): string {
  const rest = name.slice('X-Service'.length); // vectors have no other headers
  if (name === name.toLowerCase()) return prefix.toLowerCase() + rest;
  return name === name.toUpperCase() ? prefix.toUpperCase() + rest : prefix + rest;
}

/** Outcomes of a receiver that is not able to verify anything. They are no refusal of a request. */
const UNABLE: readonly (OutcomeCode | undefined)[] = ['secret-unavailable', 'body-already-parsed'];

const isUnable = (result: PostResult): boolean => UNABLE.includes(outcomeOf(result));

/** A connection that is closed without a response refuses, too. Silence does not. */
const isRight = ({ expect: { statuses } }: VectorDelivery, result: PostResult): boolean =>
  result.kind === 'status'
    ? statuses.some(([from, to]) => from <= result.status && result.status <= to)
    : result.kind === 'connection-error' &&
      /^(ECONNRESET|EPIPE)$/.test(result.code) &&
      statuses.every(([from]) => from >= 400);
